import type { Kind } from '../values/kind.ts';

/** A place in a text, in UTF-16 code units from its beginning. */
interface Placed {
  readonly at: number;
}

/** What a block is: a paragraph also stands for any other element that separates texts. */
export type BlockRole = 'paragraph' | 'heading' | 'item' | 'row' | 'note';

/**
 * A piece of a text, as its grammar (Markdown, HTML) reads it. The pieces of a text are a flat list in the order of the text; what `block` begins ends with the
 * next block, and what `link` begins ends with `link_end` or the block.
 */
export type TextPiece =
  | BlockPiece
  | Kind<'text', Placed & { readonly text: string }>
  /** A line ends within its block. */
  | Kind<'break', Placed>
  /** The next cell of a row. */
  | Kind<'cell', Placed>
  | Kind<'code', Placed & { readonly text: string; readonly isInline: boolean }>
  /** Text that a reader does not see, with the reason why its URLs are skipped. */
  | Kind<'hidden', Placed & { readonly text: string; readonly reason: 'comment' | 'code' | 'navigation' }>
  | Kind<'link', Placed & { readonly url: string }>
  | Kind<'link_end', Placed>
  /** An image or another embedded file. */
  | Kind<'image', Placed & { readonly url: string }>
  /** A reference to one or several notes: the first name that a note has counts for each. */
  | Kind<'note', Placed & { readonly names: readonly string[] }>
  /** A definition of the URL that a name, such as `[1]`, refers to. */
  | Kind<'definition', Placed & { readonly name: string; readonly url: string }>
  /** A place to which links lead: `id` of the element that follows. */
  | Kind<'anchor', Placed & { readonly name: string }>;

export type BlockPiece = Kind<
  'block',
  Placed & {
    readonly role: BlockRole;
    /** The number of an item of an ordered list. */
    readonly number?: number;
    /** The name of a footnote, such as `^1`. */
    readonly name?: string;
    /** Whether the block is inside an item: a further paragraph, or a nested list. */
    readonly isNested: boolean;
    /** The place at which the quotation begins that the block is inside. */
    readonly quote?: number | undefined;
  }
>;
