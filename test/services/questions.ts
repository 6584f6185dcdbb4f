/** More questions to the cloud of `livedIn.ts`: other callers, other requests, filters, and what is refused. */
import type { Caller } from '../../src/actors/control.ts'
import { NOVA, TENANT } from '../support/plane.ts'
import { ADMIN } from './livedIn.ts'
import { type Operation, withEvents } from './operations.ts'

const STRANGER: Caller = { ...TENANT, userId: 'u2', projectId: 'p2' }
const NOBODY = '90000000-0000-4000-8000-00000000dead'
const CLASSES = [{ 'resources:FPGA': '1' }, { 'resources:PGPU': '2', 'trait:CUSTOM_B': 'required' }]

const searching =
  (value: string): Operation =>
  ({ profiles }) =>
    profiles.check({
      groups: [{ 'resources:FPGA': '1', 'accel:function_id': value }],
      host: 'h2',
      limit: 1,
    })

export const MORE: Readonly<Record<string, Operation>> = {
  'the profiles, from the second on': ({ profiles }) =>
    profiles.list(null, { limit: 1, sort: 'name', after: { value: 'f', key: 'f' } }),
  'two profiles by name': ({ profiles }) => profiles.list(['unused', 'f'], { sort: 'name', descending: true }),
  'a profile that is unknown': ({ profiles }) => profiles.byName('other'),
  'an update of a profile that would be refused': ({ profiles }, { profile }, caller) =>
    profiles.updateImpact(caller, profile, { ifVersion: 7, enabled: false, versions: [] }, 'why'),
  'the removal of a profile that nobody uses': ({ profiles }) => profiles.impact(['unused']),
  'which hosts fit two groups': ({ profiles }) => profiles.check({ groups: CLASSES, host: null, limit: 1 }),
  'which hosts fit one image': searching('one'),
  'which hosts fit two images': searching('two'),
  'which hosts fit images that nobody may read': searching('forbidden'),
  'which hosts fit images that cannot be searched': searching('away'),
  'whether an unknown host fits': ({ profiles }) => profiles.check({ groups: CLASSES, host: 'h9', limit: 1 }),
  'the requests that failed': ({ arqs }) => arqs.list(ADMIN, { state: 'BindFailed' }, {}),
  'the resolved requests': ({ arqs }) => arqs.list(TENANT, { resolvedOnly: true }, {}),
  'the requests of a project': ({ arqs }) => arqs.list(ADMIN, { project: 'p2' }, {}),
  'some requests': ({ arqs }, { left, bound }) => arqs.list(STRANGER, { uuids: [left, bound.arq] }, {}),
  'requests by name': ({ arqs }, { left, bound }) => arqs.list(TENANT, { uuids: [left, bound.arq] }, { limit: 1 }),
  'the requests of an instance, for its project': ({ arqs }, { failed }) =>
    arqs.list(TENANT, { instance: failed.instance }, {}),
  'a request of another project': ({ arqs }, { bound }) => arqs.get(STRANGER, bound.arq),
  'the timeline of a failure, for an administrator': ({ arqs }, { failed }) =>
    withEvents(arqs.timeline(ADMIN, failed.arq)),
  'the timeline of a failure': ({ arqs }, { failed }) => withEvents(arqs.timeline(TENANT, failed.arq)),
  'the timeline of an unbound request': ({ arqs }, { released }) => withEvents(arqs.timeline(ADMIN, released.arq)),
  'the timeline of a request that is being bound': ({ arqs }, { pending }) =>
    withEvents(arqs.timeline(ADMIN, pending.arq)),
  'the timeline of a request of another project': ({ arqs }, { bound }) => arqs.timeline(STRANGER, bound.arq),
  'the failing devices': ({ devices }) => devices.list({ failing: true }, {}),
  'the devices of a host': ({ devices }) => devices.list({ hostname: 'h1', vendor: '1bf2' }, { limit: 2 }),
  'an unknown device': ({ devices }) => devices.get(NOBODY),
  'the health of an unknown device': ({ devices }) => devices.health(ADMIN, NOBODY),
  'the health of a device, for another project': ({ devices }, { named }) =>
    devices.health(STRANGER, named('worked').device_uuid),
  'whom an unknown device concerns': ({ devices }) => devices.impact(NOBODY),
  'a deployable by its name': ({ deployables }) => deployables.list({ name: 'tree' }, {}),
  'an unknown deployable': ({ deployables }) => deployables.get(NOBODY),
  'what can be programmed on a card in use': ({ deployables }, { named }, caller) =>
    deployables.programDetail(caller, named('worked').uuid),
  'what can be programmed on a silent host': ({ deployables }, { named }, caller) =>
    deployables.programDetail(caller, named('silent').uuid),
  'what can be programmed on a card without a program': ({ deployables }, { named }, caller) =>
    deployables.programDetail(caller, named('spare').uuid),
  'an attribute by its key': ({ attributes }) => attributes.list({ key: 'rack' }, {}),
  'an unknown attribute': ({ attributes }) => attributes.get(NOBODY),
  'the hosts that are down': ({ hosts }) => hosts.list({}, 'down'),
  'the hosts that are retired': ({ hosts }) => hosts.list({}, 'retired'),
  'a host, for another project': ({ hosts }) => hosts.get(STRANGER, 'h1'),
  'a silent host': ({ hosts }) => hosts.get(ADMIN, 'h2'),
  'a retired host': ({ hosts }) => hosts.get(ADMIN, 'h3'),
  'an unknown host': ({ hosts }) => hosts.get(ADMIN, 'h9'),
  'whom the removal of an unknown host concerns': ({ hosts }, _, caller) => hosts.impact(caller, 'h9', 'remove'),
  'whom a removal of a host in use concerns': ({ hosts }, _, caller) => hosts.impact(caller, 'h1', 'remove'),
  'the held handles': ({ handles }) => handles.list(STRANGER, { state: 'held' }, {}),
  'the handles of a host': ({ handles }) => handles.list(ADMIN, { hostname: 'h1' }, { limit: 3 }),
  'a handle in quarantine': ({ handles }, { withheld }) => handles.get(ADMIN, withheld),
  'a handle that is released': ({ handles }, { leaving }) => handles.get(ADMIN, leaving),
  'the same, for another project': ({ handles }, { leaving }) => handles.get(STRANGER, leaving),
  'an unknown handle': ({ handles }) => handles.get(ADMIN, NOBODY),
  'the differences of an unknown host': ({ drift }) => drift.list('h9', {}),
  'the ignored differences of another host': ({ drift }) => drift.ignored('h2', {}),
  'an unknown difference': ({ drift }) => drift.ignoredOne(NOBODY),
  'the usage by day, of one project': ({ usage }, { at }) =>
    usage(TENANT, { from: at - 3 * 86_400_000, until: at, period: 'day', project: null }),
  'the usage of another project': ({ usage }, { at }) =>
    usage(STRANGER, { from: null, until: at, period: 'total', project: 'p1' }),
  'what Nova was not told in time': ({ deliveries }) => deliveries({ state: 'undelivered', limit: 10 }),
  'the orphans after one': ({ orphans }, { bound }) => orphans.list(bound.arq),
  'an instance without a delivery': ({ resendDelivery }, _, caller) =>
    resendDelivery(caller, NOBODY, { by: 'kim', reason: 'why' }),
  'what is repaired in Placement': ({ drift }, _, caller) => drift.heal(caller, null),
  'orphans that Nova knows': ({ orphans }, { bound, onGpu }, caller) =>
    orphans.collect({ ...NOVA, commandId: caller.commandId! }, [bound.instance, onGpu.instance, NOBODY]),
}
