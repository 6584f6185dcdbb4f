/**
 * The actions on the entity of a page, as links to a page that asks for confirmation. An action that is impossible
 * shows the reason.
 */
import type { Offer } from './screen.ts'
import { type Node, a, div } from './tags.ts'

export const offers = (here: string, list: readonly Offer[]): Node =>
  div(
    { class: 'offers' },
    ...list.map(({ name, label, grave, not }) =>
      not === null
        ? a({ class: grave ? 'button grave' : 'button', href: `${here}/do/${name}`, key: name }, label)
        : a({ class: 'button off', href: `${here}/do/${name}`, key: name, title: not }, label),
    ),
  )
