// The bare `openai` package: makes the streamed request of each line {id, body} and writes a line {id, text}.
import OpenAI from 'openai';

const client = new OpenAI({ maxRetries: 0 });

async function call({ id, body }) {
  let text = '';
  for await (const event of await client.responses.create(body)) {
    if (event.type === 'response.completed') {
      const content = event.response.output.flatMap((item) => (item.type === 'message' ? item.content : []));
      text = content.map((part) => part.text ?? '').join('');
    }
  }
  process.stdout.write(`${JSON.stringify({ id, text })}\n`);
}

let unread = '';
process.stdin.setEncoding('utf8').on('data', (chunk) => {
  const lines = (unread + chunk).split('\n');
  unread = lines.pop();
  for (const line of lines) call(JSON.parse(line));
});
process.stdin.on('end', () => process.exit(0));
