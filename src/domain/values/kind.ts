/** A member of a union, with `kind` and other members. One per kind, so that TypeScript can narrow by `kind`. */
export type Kind<Name extends string, Members = object> = Name extends unknown
  ? { readonly kind: Name } & Readonly<Members>
  : never;
