export function versionedFiles(root: string): readonly string[];
export function withVersion(file: string, text: string, version: string): string;
