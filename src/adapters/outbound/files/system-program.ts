import { win32 } from 'node:path';

/** The path of a program of Windows. By name, Windows would first look in the current folder, which may be the project of a stranger. */
export function systemProgram(name: string, environment: Readonly<Record<string, string | undefined>>): string {
  return win32.join(environment.SystemRoot ?? 'C:\\Windows', 'System32', `${name}.exe`);
}
