/** Checks of the work that the processes share: the relay, hosts, orders and binds. */
import type { WorkFacts } from '../../persistence/inspectWork.ts'
import type { Check } from './check.ts'
import { counted, listed, ok, problem, span, warning } from './check.ts'

const LAG = { warnMs: 5000, badMs: 60_000 }

/** Why no process holds the lease; null: one does. */
const unheld = ({ lease }: WorkFacts): string | null => {
  if (lease === null) return 'no relay has ever run'
  if (lease.remainsMs === null) return `nobody relays: ${lease.holder} gave the lease back`
  return lease.remainsMs > 0
    ? null
    : `the lease of ${lease.holder} ended ${span(lease.remainsMs)} ago and nobody took it`
}

const relay: Check<WorkFacts> = {
  name: 'relay',
  judge: (facts) => {
    const { lease, lag } = facts
    const behind = `${counted(lag.rows, 'row')} to tell, the oldest ${span(lag.oldestMs)} old`
    const late = lag.rows > 0 && lag.oldestMs >= LAG.warnMs
    const alone = unheld(facts)
    if (alone !== null)
      return late
        ? problem(`${alone}; ${behind}`, 'no control runs, or none reaches database and Kafka: start one, read its log')
        : ok(`${alone}; nothing has waited for long`)
    const says = `${lease!.holder} holds the lease (epoch ${lease!.epoch}); ${behind}`
    if (!late) return ok(says)
    const advice = `read the log of ${lease!.holder}: is Kafka slow or unreachable, or an old transaction open?`
    return lag.oldestMs >= LAG.badMs ? problem(says, advice) : warning(says, advice)
  },
}

const liveness: Check<WorkFacts> = {
  name: 'hosts',
  judge: ({ hosts }) => {
    const kept = hosts.filter((host) => host.liveness !== 'removed')
    // what an operator took out of service may be switched off
    const there = kept.filter(({ retired }) => !retired)
    const away = kept.length > there.length ? `; ${kept.length - there.length} out of service` : ''
    const named = (state: string) =>
      there
        .filter((host) => host.liveness === state)
        .map(({ name, silentMs }) => (silentMs === null ? name : `${name} (silent for ${span(silentMs)})`))
    const [down, stale, pending] = [named('down'), named('stale'), named('pending')]
    if (down.length > 0)
      return problem(
        `${down.length} of ${counted(there.length, 'host')} down: ${listed(down)}`,
        'start the host program there, read its log, or remove the host if it will not return',
      )
    if (stale.length > 0)
      return warning(
        `${stale.length} of ${counted(there.length, 'host')} stale: ${listed(stale)}`,
        'check the host and its network',
      )
    return pending.length > 0
      ? warning(
          `${counted(pending.length, 'host')} with a key that waits for approval, or without a report since: ${listed(pending)}`,
          'compare the key with the log of the host: accelerando host show, then host approve, or host remove',
        )
      : ok(`${counted(there.length, 'host')}, all up${away}`)
  },
}

const keys: Check<WorkFacts> = {
  name: 'keys of hosts',
  judge: ({ sharedKeys }) =>
    sharedKeys.length === 0
      ? ok('none is that of two hosts')
      : problem(
          `the same for ${sharedKeys.map(listed).join('; for ')}: each is believed in the name of the others`,
          'on all but one: stop the host program, remove key.pem in its data folder, start it, and name the new key of its log: accelerando host rekey NAME --key KEY --reason TEXT',
        ),
}

const drivers: Check<WorkFacts> = {
  name: 'drivers',
  judge: ({ hosts }) => {
    const failed = hosts
      // what an operator took out of service may be switched off, or broken
      .filter((host) => host.liveness !== 'removed' && !host.retired)
      .flatMap(({ name, failed: theirs }) => theirs.map((each) => `${name}: ${each}`))
    return failed.length === 0
      ? ok('none has failed')
      : problem(
          listed(failed),
          'fix the reported error on that host; until then its devices are shown as last reported',
        )
  },
}

const orders: Check<WorkFacts> = {
  name: 'orders',
  judge: ({ orders: all }) => {
    const waiting = all.reduce((sum, host) => sum + host.waiting, 0)
    const late = all.filter((host) => host.late > 0)
    return late.length === 0
      ? ok(`${waiting} without an answer, none past its deadline`)
      : warning(
          `past their deadline without an answer: ${listed(late.map((host) => `${host.host} ${host.late}`))}`,
          'these hosts are unreachable or cannot do the work: see their liveness and logs; a release is retried until it is answered',
        )
  },
}

const deadlines: Check<WorkFacts> = {
  name: 'deadlines',
  judge: ({ overdue }) =>
    overdue.length === 0
      ? ok('none was missed')
      : problem(
          listed(
            overdue.map(({ kind, count, oldestMs }) => `${count} of kind ${kind} overdue for up to ${span(oldestMs)}`),
          ),
          'no control handles them: check that a control is running and reaches the database',
        ),
}

const binds: Check<WorkFacts> = {
  name: 'binds',
  judge: ({ lateBinds }) =>
    lateBinds.length === 0
      ? ok('every accepted bind is within its time')
      : problem(
          `still being bound after their time: ${listed(lateBinds)}`,
          'their deadline was not handled: see deadlines, and accelerando audit for what was recorded',
        ),
}

export const WORK_CHECKS: readonly Check<WorkFacts>[] = [relay, liveness, keys, drivers, orders, deadlines, binds]
