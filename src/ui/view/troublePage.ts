/** The page that is shown in place of one that cannot be shown. */
import { trouble } from './parts.ts'
import type { Screen } from './screen.ts'
import { type Node, div, h1, header } from './tags.ts'

export const troublePage = ({ title, body }: Screen<'trouble'>): Node =>
  div(null, header({ class: 'head' }, h1(null, title)), trouble(body.error))
