/** The options of neighbouring services: Nova, Placement and the database. */
import { RESERVE_SILENT } from '../../actors/placement/wanted.ts'
import { CONTROL_DEFAULTS as CONTROL } from '../../services/kernel/kernel.ts'
import * as k from './kinds.ts'
import { optional, row } from './row.ts'

export const NEIGHBOURS = {
  'nova.url': optional('nova.url', k.webAddress, {
    flag: true,
    about:
      'Endpoint of Nova, which is notified when binds end. Without it: with auth keystone, the compute service of the catalogue; otherwise the end is ' +
      'only recorded. With an account in keystone_authtoken, Nova is asked there with the token of that account too.',
    example: 'http://127.0.0.1:8774/v2.1',
  }),
  'nova.timeout_seconds': row('nova.timeoutMs', k.seconds(0.05, 120), 10, {
    about: 'Time limit for one request to Nova.',
  }),
  'nova.tell_for_seconds': row('control.tellForMs', k.seconds(0, 3600), k.inSeconds(CONTROL.tellForMs), {
    about: 'Events to Nova are sent again for this long after the bind was accepted.',
  }),
  'nova.collect_orphans_seconds': row(
    'control.collectOrphansMs',
    k.seconds(0, 30 * 86_400),
    k.inSeconds(CONTROL.collectOrphansMs),
    {
      about:
        'Accelerator requests of servers that Nova has not known for this long, at least 60 seconds, are deleted. 0: never; see accelerando orphan.',
    },
  ),
  'nova.headers': row(
    'nova.headers',
    k.headers,
    {},
    { secret: true, about: 'Headers added to every request to Nova.' },
  ),
  'nova.token_file': optional('nova.tokenFile', k.file, {
    about:
      'File with the token for Nova and nothing else, read before each request, so that it may be renewed. Used at nova.url only, in place of the token of the ' +
      'account in keystone_authtoken.',
    example: '/etc/accelerando/nova.token',
  }),
  'placement.enabled': row('placement.enabled', k.toggle, true, {
    about:
      'With auth keystone: show the inventory in the placement service of the catalogue, so that servers are scheduled onto it. If false, ' +
      'nothing is written there.',
  }),
  'placement.audit_seconds': row(
    'control.placementAuditMs',
    k.seconds(1, 7 * 86_400),
    k.inSeconds(CONTROL.placementAuditMs),
    { about: 'Each host is compared with Placement at least this often, also when nothing has changed here.' },
  ),
  'placement.reserve_silent': row('control.reserveSilent', k.choice(RESERVE_SILENT), CONTROL.reserveSilent, {
    about:
      'From which silence on everything of a host is reserved in Placement, so that no new server is sent to it: when the host is stale, when it ' +
      'is down, or never.',
  }),
  'postgres.statement_timeout_seconds': row('postgres.statementTimeoutMs', k.seconds(0.1, 600), 5, {
    about: 'A statement that takes longer is cancelled.',
  }),
  'postgres.readers': row('postgres.readers', k.count(1, 100), 4, {
    about: 'Connections for reading; one more is for writing.',
  }),
}
