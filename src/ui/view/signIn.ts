/** The page on which a user signs in. */
import { command, mark, panel, trouble } from './parts.ts'
import type { Screen } from './screen.ts'
import { type Node, button, code, div, form, h1, header, input, label, p, span } from './tags.ts'
import { shell } from './words.ts'

const field = (name: string, title: string, value = '', more: Readonly<Record<string, string | boolean>> = {}): Node =>
  label({ key: name }, span(null, title), input({ name, value, autocapitalize: 'none', spellcheck: 'false', ...more }))

export const signInPage = ({ body: { error, identity, user, back, ended } }: Screen<'sign_in'>): Node =>
  div(
    { class: 'narrow' },
    header({ class: 'head' }, h1(null, 'Sign in')),
    p(
      { class: 'lead' },
      'With your account of the cloud at ',
      code(null, identity),
      '. You see what the API would show you, and no more.',
    ),
    ended === null ? null : p({ class: 'done', role: 'status' }, mark(ended.tone), ended.text),
    error === null ? null : trouble(error),
    form(
      { method: 'post', action: 'sign-in', class: 'form' },
      input({ type: 'hidden', name: 'back', value: back }),
      field('user', 'User', user, { autocomplete: 'username', autofocus: true }),
      field('password', 'Password', '', { type: 'password', autocomplete: 'current-password' }),
      field('project', 'Project', '', { autocomplete: 'off' }),
      field('domain', 'Domain of user and project', 'Default', { autocomplete: 'off' }),
      p({ class: 'dim or' }, 'or, instead of all of these'),
      field('token', 'Token', '', { type: 'password', autocomplete: 'off' }),
      div({ class: 'form-end' }, button({ type: 'submit', class: 'button full' }, 'Sign in')),
    ),
    panel('A token from the command line', null, command(shell`openstack token issue -f value -c id`)),
  )
