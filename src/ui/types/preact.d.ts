/** What of preact is used here. Its own types bring those of a browser into every file of the program, where there is none. */
export type VNode = { readonly type: unknown; readonly props: object; readonly key: unknown }
export type ComponentChild = VNode | string | number | bigint | boolean | null | undefined | readonly ComponentChild[]
export const h: (
  type: string,
  props: Readonly<Record<string, string | number | boolean | null | undefined>> | null,
  ...children: readonly ComponentChild[]
) => VNode
/** Both take the element under which the tree stands. */
export const hydrate: (node: VNode, parent: object) => void
export const render: (node: VNode, parent: object) => void
