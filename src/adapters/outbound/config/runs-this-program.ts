import { realpathSync } from 'node:fs';
import { expandPath, reasonOf } from './files.ts';

const COMMAND = /(?:^|[\\/])openai-responses-mcp(?:\.(?:cmd|exe|ps1))?$/i;
/** The package as `npx` takes it, the image, or the main file of an installation. A folder may have the same name. */
const ARGUMENT =
  /^(?:--package=)?(?:(?:github:|ghcr\.io\/)uchimanajet7\/)?openai-responses-mcp(?:[@:#].*)?$|[\\/]openai-responses-mcp[\\/]build[\\/]index\.js$/;

/** Whether a command line starts this program. A gateway that is a server of itself would start itself without end. */
export function runsThisProgram(command: unknown, args: unknown, folder: string): boolean {
  const texts = [command, ...(Array.isArray(args) ? args : [])].map(String);
  // The line of a shell is one argument.
  const words = texts.flatMap((text) => [text, ...text.split(/\s+/)]);
  // Undefined if an update has removed it.
  const self = fileAt(process.argv[1] ?? '', folder);
  const isSelf = (word: string) => self !== undefined && fileAt(word, folder) === self;
  return COMMAND.test(String(command)) || words.some((word) => ARGUMENT.test(word) || isSelf(word));
}

/** The file itself if the path is one of a link; undefined if there is none. */
function fileAt(path: string, folder: string): string | undefined {
  let file: string | undefined;
  reasonOf(() => {
    file = realpathSync(expandPath(path, folder));
  });
  return file;
}
