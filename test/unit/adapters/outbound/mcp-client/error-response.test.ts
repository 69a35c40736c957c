import { assert, integer, oneof, property, string } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { requestIdIn } from '../../../../../src/adapters/outbound/mcp-client/error-response.ts';

const FILL = 'x'.repeat(1000);
const idOf = (message: string) => requestIdIn(message.slice(0, 256), message.slice(-256));

describe('a message of which only the start and the end were kept', () => {
  test('has its ID at the start or at the end, in every order that servers write', () => {
    assert(
      property(oneof(integer({ min: 0 }), string({ maxLength: 40 })), (id) => {
        const text = JSON.stringify(id);
        const result = JSON.stringify({ content: [{ type: 'text', text: FILL, id: 999 }] });
        for (const message of [
          `{"jsonrpc":"2.0","id":${text},"result":${result}}`,
          `{"id":${text},"jsonrpc":"2.0","result":${result}}`,
          `{"jsonrpc":"2.0","result":${result},"id":${text}}`,
          `{"result":${result},"jsonrpc":"2.0","id":${text}}`,
          `{"result":${result},"id":${text},"jsonrpc":"2.0"}`,
          ` { "jsonrpc" : "2.0" , "id" : ${text} , "error" : ${result} } \r`,
          `{"id":${text},"error":${result},"jsonrpc":"2.0"}`,
        ]) {
          expect(idOf(message)).toBe(id);
        }
      }),
    );
  });

  test.each([
    ['a notification', `{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"${FILL}"}}`],
    ['a request', `{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage","params":{"data":"${FILL}"}}`],
    ['a notification with its parameters first', `{"jsonrpc":"2.0","params":{"data":"${FILL}"},"method":"a"}`],
  ])('is not a response if it is %s', (_, message) => {
    expect(idOf(message)).toBeUndefined();
  });

  test.each([
    ['its ID is in the middle', `{"jsonrpc":"2.0","more":"${FILL}","id":7,"result":{"a":"${FILL}"}}`],
    ['the ID is that of something inside', `{"jsonrpc":"2.0","more":1,"result":{"a":"${FILL}","id":7}}`],
    ['it is not an object', `["${FILL}"]`],
    ['its ID has an escape that JSON does not know', `{"jsonrpc":"2.0","id":"\\q","result":{"a":"${FILL}"}}`],
  ])('is unknown if %s', (_, message) => {
    expect(idOf(message)).toBe('unknown');
  });
});
