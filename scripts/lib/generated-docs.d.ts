export function generatedDocs(): Promise<ReadonlyMap<string, string>>;
