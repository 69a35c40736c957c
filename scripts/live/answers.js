import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ask, eventsOf, json, judge, unknown } from './check.js';

export const ANSWERS = {
  'too-long': (run) => {
    const path = join(run.temporary, 'too-long.txt');
    writeFileSync(path, 'a '.repeat(5_242_881));
    return ask(run, { config: { ...run.config, policy: { system: { source: 'file', path } } } });
  },
  shapes: async (run) => {
    const exchanges = run.of().filter(({ status }) => status === 200);
    const folders = ['recordings', 'examples', 'test/fixtures/replies'].map((name) => join(run.root, name));
    const files = folders.flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)));
    const replies = files.filter((file) => /\.(?:sse|json)$/.test(file)).map((file) => readFileSync(file, 'utf8'));
    const known = new Set([...replies, ...exchanges.map(({ sent }) => json(sent))].flatMap(shapesIn));
    const earlier = exchanges.length > 0 && run.verdict === 'contradicted' ? run.seen.split('\n') : [];
    const found = [...new Set([...earlier, ...exchanges.flatMap(({ text }) => shapesIn(text))])];
    const others = found.filter((shape) => !known.has(shape) && !shape.startsWith('response.cancelled.')).sort();
    return found.length === 0 ? unknown('no response was received') : judge(others, `${found.length} types and fields`);
  },
};

/** Each member of an object of a type (`url_citation.title`, also `url_citation.type`) in a body; of other objects without a type (`.url`). */
function shapesIn(body) {
  const shapes = new Set();
  function add(name, value) {
    if (!Array.isArray(this)) shapes.add(`${typeof this.type === 'string' ? this.type : (this.object ?? '')}.${name}`);
    return value;
  }
  for (const event of eventsOf(body)) JSON.parse(JSON.stringify(event), add);
  return [...shapes];
}
