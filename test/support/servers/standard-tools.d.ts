interface Exchange {
  readonly onProgress: (progress: {
    readonly progress: number;
    readonly total?: number;
    readonly message?: string;
  }) => void | Promise<void>;
  readonly signal: AbortSignal;
}

export declare class StandardTools {
  onChanged: () => void;
  onPromptsChanged: () => void;
  listPrompts(cursor?: string): { prompts: { name: string }[]; nextCursor?: string };
  getPrompt(name: string, args: unknown, signal: AbortSignal): Promise<Record<string, unknown>>;
  listWithoutEnd(perPage: number): void;
  list(cursor?: string): { tools: Record<string, unknown>[]; nextCursor?: string };
  call(name: string, args: Record<string, unknown>, exchange: Exchange): Promise<Record<string, unknown>>;
}
