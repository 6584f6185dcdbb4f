/** A case for each condition of S10 and L6 of `src/audit/clients.ts`. */
import type { ClientRequest } from '../../../src/audit/evidence.ts'
import type { Finding } from '../../../src/audit/history.ts'
import { ADMIN, SERVICE, TENANT, ask, asking, by, get, life, said, show, until } from './asked.ts'
import { type Case, arq, bindStarted, created, here, isBound, of, removed, unbound } from './scene.ts'

const across = (asked: ClientRequest, owners: string): Finding =>
  said(asked, `project ${asked.caller.projectId} was shown a1 of ${owners}`, 'arq/a1')
const seenBy = (caller: ClientRequest['caller'], more: Partial<ClientRequest> = {}): ClientRequest => ({
  ...get(1, 1, show('Initial')),
  caller,
  ...more,
})
const OTHER = { ...TENANT, projectId: 'p2' }
const withoutToken = (act: 'bind' | 'unbind', more: Partial<ClientRequest> = {}): ClientRequest =>
  ask(act, 1, 2, { caller: TENANT, status: 202, ...more })
const changed = (rowCount: number, what: string, who: string) =>
  here(rowCount, ['arq/a1'], `${what} of arq/a1, bound, by ${who}`)
const forced = { ...unbound, forced: { by: 'op', reason: 'r' } }
const walled: readonly Case[] = [
  [
    'S10',
    'it goes from one project to another, and a third sees it',
    {
      ...of(created('a1'), by('service', arq('a1', { ...bindStarted(), projectId: 'p3' }))),
      clients: [seenBy(OTHER, { to: 2 })],
    },
    [across(seenBy(OTHER, { to: 2 }), 'p1, p3')],
  ],
  [
    'S10',
    'a tenant is recorded as binding and unbinding at once',
    of(created('a1'), by('u1', arq('a1', bindStarted(), unbound, bindStarted()))),
    [changed(2, 'BindStarted', 'u1')],
  ],
  [
    'S10',
    'a tenant is recorded as unbinding and binding at once',
    of(created('a1'), by('u1', arq('a1', unbound, bindStarted()))),
    [changed(2, 'Unbound', 'u1')],
  ],
  ['S10', 'its own project sees it', asking(1, seenBy(TENANT)), []],
  ['S10', 'an administrator sees it', asking(1, seenBy(ADMIN)), []],
  ['S10', 'another project sees it', asking(1, seenBy(OTHER)), [across(seenBy(OTHER), 'p1')]],
  [
    'S10',
    'another project sees it in an answer that failed',
    asking(1, seenBy(OTHER, { status: null })),
    [across(seenBy(OTHER, { status: null }), 'p1')],
  ],
  ['S10', 'a service sees it by its instance', asking(1, seenBy(SERVICE, { instance: 'i1' })), []],
  ['S10', 'a service sees it without an instance', asking(1, seenBy(SERVICE)), [across(seenBy(SERVICE), 'p1')]],
  [
    'S10',
    'a tenant names an instance',
    asking(1, seenBy(OTHER, { instance: 'i1' })),
    [across(seenBy(OTHER, { instance: 'i1' }), 'p1')],
  ],
  [
    'S10',
    'it belongs to the other project afterwards',
    {
      ...of(created('a1'), by('service', arq('a1', { ...bindStarted(), projectId: 'p2' }))),
      clients: [seenBy(OTHER, { to: 2 })],
    },
    [],
  ],
  [
    'S10',
    'a tenant binds',
    asking(2, withoutToken('bind')),
    [said(withoutToken('bind'), 'a bind without a service token was accepted')],
  ],
  [
    'S10',
    'a tenant unbinds',
    asking(2, withoutToken('unbind')),
    [said(withoutToken('unbind'), 'a unbind without a service token was accepted')],
  ],
  ['S10', 'a service binds', asking(2, withoutToken('bind', { caller: SERVICE })), []],
  ['S10', 'a tenant is refused', asking(2, withoutToken('bind', { status: 403 })), []],
  ['S10', 'a tenant removes', asking(2, { ...withoutToken('bind'), act: 'remove' }), []],
  ['S10', 'services change what is bound', until(5), []],
  ['S10', '`seed` fills a store', of(created('a1'), by('seed', arq('a1', bindStarted()))), []],
  ['S10', '`import` fills a store', of(created('a1'), by('import', arq('a1', bindStarted()))), []],
  [
    'S10',
    'a tenant is recorded as binding',
    of(created('a1'), by('u1', arq('a1', bindStarted()))),
    [changed(2, 'BindStarted', 'u1')],
  ],
  [
    'S10',
    'nobody is recorded as unbinding',
    of(...life.slice(0, 3), arq('a1', unbound)),
    [changed(4, 'Unbound', 'nobody')],
  ],
  [
    'S10',
    'a tenant is recorded as removing what is bound',
    of(...life.slice(0, 3), by('u1', arq('a1', removed))),
    [changed(4, 'ArqRemoved', 'u1')],
  ],
  ['S10', 'a tenant removes what is not bound', of(created('a1'), by('u1', arq('a1', removed))), []],
  ['S10', 'a tenant unbinds what is not bound', of(created('a1'), by('u1', arq('a1', { ...unbound, was: null }))), []],
  ['S10', 'an operator unbinds by force', of(...life.slice(0, 3), by('u1', arq('a1', forced))), []],
  [
    'S10',
    'force does not remove',
    of(...life.slice(0, 3), by('u1', arq('a1', { ...removed, forced: {} }))),
    [changed(4, 'ArqRemoved', 'u1')],
  ],
  [
    'S10',
    'an operator deletes a request whose server Nova does not know',
    of(...life.slice(0, 3), by('u1', arq('a1', { ...removed, orphan: true }))),
    [],
  ],
  [
    'S10',
    'that Nova does not know the server excuses no unbind',
    of(...life.slice(0, 3), by('u1', arq('a1', { ...unbound, orphan: true }))),
    [changed(4, 'Unbound', 'u1')],
  ],
  [
    'S10',
    'what a host reports is of nobody',
    of(created('a1'), by('service', arq('a1', bindStarted())), arq('a1', isBound)),
    [],
  ],
]

const remove = (to: number, more: Partial<ClientRequest> = {}): ClientRequest =>
  ask('remove', 1, to, { status: 204, arqs: ['a1'], ...more })
const isThere = (asked: ClientRequest, uuid = 'a1'): Finding =>
  said(asked, `ARQ ${uuid} was deleted and is there`, `arq/${uuid}`)
const byInstance = (from: number, to: number, more: Partial<ClientRequest> = {}): ClientRequest =>
  ask('removeByInstance', from, to, { status: 204, instance: 'i1', ...more })
const ofInstance = (asked: ClientRequest): Finding =>
  said(asked, 'ARQ a1 of instance i1 was deleted and is there', 'arq/a1')
const finished: readonly Case[] = [
  [
    'L6',
    'two are there: the first is named',
    { ...of(created('a1'), created('a2')), clients: [remove(2, { arqs: ['a1', 'a2'] })] },
    [isThere(remove(2, { arqs: ['a1', 'a2'] }))],
  ],
  ['L6', 'it is gone', asking(5, remove(5)), []],
  ['L6', 'it never was', asking(0, remove(5)), []],
  ['L6', 'it is there', asking(4, remove(4)), [isThere(remove(4))]],
  ['L6', 'it is gone only afterwards', asking(5, remove(4)), [isThere(remove(4))]],
  [
    'L6',
    'the second of two is there',
    { ...of(created('a2')), clients: [remove(1, { arqs: ['a1', 'a2'] })] },
    [isThere(remove(1, { arqs: ['a1', 'a2'] }), 'a2')],
  ],
  ['L6', 'it was refused', asking(4, remove(4, { status: 404 })), []],
  ['L6', 'it was not to be removed', asking(4, { ...remove(4), act: 'get' }), []],
  ['L6', 'it left the instance', asking(4, byInstance(3, 4)), []],
  ['L6', 'it stays with the instance', asking(4, byInstance(2, 3)), [ofInstance(byInstance(2, 3))]],
  ['L6', 'it came to the instance meanwhile', asking(4, byInstance(1, 3)), []],
  ['L6', 'it stays with another instance', asking(4, byInstance(2, 3, { instance: 'i2' })), []],
  ['L6', 'its instance was refused', asking(4, byInstance(2, 3, { status: 409 })), []],
  ['L6', 'the removal names an instance beside it', asking(4, { ...byInstance(2, 3), act: 'unbind' }), []],
]

export const rightCases: readonly Case[] = [...walled, ...finished]
