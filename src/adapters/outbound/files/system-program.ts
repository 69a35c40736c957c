import { win32 } from 'node:path';

/** The path of a program of Windows itself. By its name alone, Windows would look in the current folder first, which may be that of a project of somebody else. */
export function systemProgram(name: string, environment: Readonly<Record<string, string | undefined>>): string {
  return win32.join(environment.SystemRoot ?? 'C:\\Windows', 'System32', `${name}.exe`);
}
