import { assert, integer, oneof, property, string } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readCutMessage } from '../../../../../src/adapters/outbound/mcp-client/substitute-response.ts';

const CUT = 256;

function cut(message: string) {
  return readCutMessage(message.slice(0, CUT), message.slice(-CUT));
}

const FILL = 'x'.repeat(1000);

describe('a message that was cut', () => {
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
          expect(cut(message)).toEqual({ kind: 'response', id });
        }
      }),
    );
  });

  test.each([
    ['a notification', `{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"${FILL}"}}`],
    ['a request', `{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage","params":{"data":"${FILL}"}}`],
    ['a notification with its parameters first', `{"jsonrpc":"2.0","params":{"data":"${FILL}"},"method":"a"}`],
  ])('is not a response if it is %s', (_, message) => {
    expect(cut(message)).toEqual({ kind: 'other' });
  });

  test.each([
    ['its ID is in the middle', `{"jsonrpc":"2.0","more":"${FILL}","id":7,"result":{"a":"${FILL}"}}`],
    ['the ID is that of something inside', `{"jsonrpc":"2.0","more":1,"result":{"a":"${FILL}","id":7}}`],
    ['it is not an object', `["${FILL}"]`],
    ['its ID has an escape that JSON does not know', `{"jsonrpc":"2.0","id":"\\q","result":{"a":"${FILL}"}}`],
    ['its ID is a number with zeros before it', `{"jsonrpc":"2.0","result":{"a":"${FILL}"},"id":007}`],
    ['its ID contains a tab', `{"jsonrpc":"2.0","id":"a\tb","result":{"a":"${FILL}"}}`],
  ])('is unknown if %s', (_, message) => {
    expect(cut(message)).toEqual({ kind: 'unknown' });
  });
});
