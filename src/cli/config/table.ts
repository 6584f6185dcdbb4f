/**
 * All options, one row each. File keys, environment variables, flags, help, sample file and manual are derived from
 * this table.
 */
import { DAY_MS } from '../../vocabulary/clock.ts'
import { CONTROL_DEFAULTS as CONTROL } from '../../services/kernel/kernel.ts'
import { ENROLLMENTS } from '../../actors/host/enrollment.ts'
import { REGION_DEFAULTS as REGION } from '../../actors/runtime/region.ts'
import { EVENT_LIMITS as EVENTS } from '../../delivery/events/options.ts'
import { DEFAULTS as HTTP } from '../../http/options.ts'
import * as k from './kinds.ts'
import { optional, row } from './row.ts'
import type { Row } from './row.ts'
import type { Path, Sections } from './sections.ts'
import { GLANCE } from './glance.ts'
import { HARDWARE } from './hardware.ts'
import { KEYSTONE } from './keystone.ts'
import { NEIGHBOURS } from './neighbours.ts'
import { SEVERAL_PROCESSES } from './severalProcesses.ts'

const PROGRAM = {
  listen: row('program.listen', k.listenAddress, '127.0.0.1:6666', { flag: true, about: 'Where the API listens.' }),
  admin_listen: row('program.adminListen', k.listenAddress, '127.0.0.1:6671', {
    flag: true,
    about:
      'Where /metrics and detailed health for operators are answered. If it is not set and the port is in use, a free port is taken.',
  }),
  ui_listen: row('program.uiListen', k.listenAddress, '127.0.0.1:6670', {
    flag: true,
    about:
      'Where the console, the pages for people, is answered. If it is not set and the port is in use, a free port is taken.',
  }),
  data: row('program.data', k.folder, './data', {
    flag: true,
    about: 'Folder that holds everything that must outlive the process.',
  }),
  config: optional('program.config', k.file, {
    flag: true,
    only: 'environment and flag',
    about: 'Configuration file in TOML.',
  }),
  database: optional('postgres.url', k.postgresAddress, {
    flag: true,
    secret: true,
    about: 'PostgreSQL that keeps journal and views. Without it they are kept in the data folder.',
    example: 'postgresql://accelerando@127.0.0.1:5432/accelerando',
  }),
  images: optional('program.images', k.folder, {
    flag: true,
    about:
      'Folder of bitstream images, each named by its UUID. `<uuid>.json` beside one may hold what an image service would say of it: tags, ' +
      'os_hash_algo, os_hash_value and properties; then its bytes are verified. Without the folder images come from Glance, if an account is ' +
      'configured in keystone_authtoken; otherwise nothing can be programmed.',
    example: '/var/lib/accelerando/images',
  }),
  enabled_drivers: row('program.enabledDrivers', k.names, ['pci_driver'], {
    about: 'Drivers that look at the hardware of this machine.',
  }),
  noauth_anywhere: row('program.noauthAnywhere', k.toggle, false, {
    flag: true,
    about:
      'Listen beyond this machine although callers are not authenticated: everybody who can reach the API may do everything.',
  }),
  demo: row('demo.mixed', k.toggle, false, { flag: true, about: 'Adds a small mixed cloud of simulated hosts.' }),
  demo_hosts: optional('demo.hosts', k.count(1, 10_000), {
    flag: true,
    about: 'Number of simulated hosts with FPGAs, instead of the mixed cloud (1 when only the other sizes are set).',
    example: 3,
  }),
  demo_devices: optional('demo.devices', k.count(1, 1000), {
    flag: true,
    about: 'Number of FPGAs of each of these hosts (1 when only the other sizes are set).',
    example: 2,
  }),
  demo_handles: optional('demo.handles', k.count(1, 4096), {
    flag: true,
    about: 'Number of attach handles of each of these FPGAs (16 when only the other sizes are set).',
    example: 16,
  }),
  demo_host_work: row('demo.hostWork', k.toggle, true, {
    about: 'Binding one of these FPGAs needs work on its host. If false, they are attached without preparation.',
  }),
  demo_seed: row('demo.seed', k.word, 'demo', {
    flag: true,
    about: 'The same seed shows the same simulated hardware.',
  }),
  tour: row('program.tour', k.toggle, false, {
    flag: true,
    about:
      'Performs one bind as Nova would, prints what happened, and stops. Logs only warnings when log.level is not set.',
  }),
  test_doors: row('program.testDoors', k.toggle, false, {
    only: 'environment',
    about: 'Opens paths on the admin listener with which tests cause failures. Never for production.',
  }),
}

const API = {
  'log.level': row('log.level', k.choice(['trace', 'debug', 'info', 'warn', 'error', 'silent']), 'info', {
    flag: true,
    about: 'Lowest level that is logged, on standard error.',
  }),
  'log.pretty': row('log.pretty', k.choice(['auto', 'always', 'never']), 'auto', {
    about: 'Readable lines instead of JSON; auto: when standard error is a terminal.',
  }),
  'api.public_endpoint': optional('http.publicEndpoint', k.webAddress, {
    about: 'Base of every link, before /accelerator. Without it, scheme and host of the request.',
    example: 'https://cloud.example.org',
  }),
  'api.trusted_hosts': row('http.trustedHosts', k.names, HTTP.trustedHosts, {
    about:
      'Names, beside those of this machine and the one in api.public_endpoint, that the Host header of a request may hold; any other is ' +
      'answered 403, because a page of another site may have sent it. With noauth_anywhere any name is accepted unless some are set here.',
  }),
  'api.proxy_headers': row('http.proxyHeaders', k.toggle, HTTP.proxyHeaders, {
    about:
      'Trust proto and host of the first element of Forwarded or, when that header is not sent, X-Forwarded-Proto and ' +
      'X-Forwarded-Host, and the address of the last element (for, X-Forwarded-For), by which callers share places. Only behind a proxy that sets them and removes what clients send under these names.',
  }),
  'api.body_limit_bytes': row('http.bodyLimitBytes', k.count(1024, 64 * 1024 * 1024, 'bytes'), HTTP.bodyLimitBytes, {
    about:
      'A larger body of a bind, an unbind or a change of a device profile is answered 413; bodies of other requests are limited to 256 KiB or 16 KiB, and never to more than this.',
  }),
  'api.answer_seconds': row('http.answerMs', k.seconds(0.1, 600), k.inSeconds(HTTP.answerMs), {
    about:
      'A request without an answer by then is answered 503; it may still be carried out. A long list is sent in portions, and ' +
      'each of them has this limit.',
  }),
  'api.additive_microversion': row('http.additiveMicroversion', k.toggle, HTTP.additiveMicroversion, {
    about:
      'Offer every client the microversions 2.4, which shows UUIDs beside integer ids, the states of devices, and how deployables stand in Placement, and 2.5, with versions of device profiles. The console and the commands do not need it.',
  }),
  'compat.tempest_server_faults': row('compat.tempestServerFaults', k.toggle, HTTP.compat.tempestServerFaults, {
    about: 'Answer 500 to the three client mistakes for which tests of existing clients expect it.',
  }),
  'keystone_authtoken.service_token_roles': row('http.serviceTokenRoles', k.names, HTTP.serviceTokenRoles, {
    about: 'A service token must carry one of these roles.',
  }),
  'oslo_policy.enforce_new_defaults': row('policy.enforceNewDefaults', k.toggle, HTTP.policy.enforceNewDefaults, {
    about: 'Apply only the new default rules; otherwise the older rules are accepted as well.',
  }),
  'oslo_policy.policy_file': optional('policy.file', k.file, {
    about: 'Rules that replace the defaults, in YAML or JSON: one NAME: "RULE" for each operation.',
    example: '/etc/accelerando/policy.yaml',
  }),
}

const STREAMS = {
  'events.streams_max': row('events.streamsMax', k.count(1, 100_000), EVENTS.streamsMax, {
    about:
      'Streams of events that one process serves at a time; a further one is answered 503. One project has at most a fifth of them; beyond that it is answered 429.',
  }),
  'events.streams_per_caller': row('events.streamsPerCaller', k.count(1, 100_000), EVENTS.streamsPerCaller, {
    about: 'Streams of events of one user in one project on one process; a further one is answered 429.',
  }),
  'events.ring_bytes': row('events.ringBytes', k.count(1024 * 1024, 1024 * 1024 * 1024, 'bytes'), EVENTS.ringBytes, {
    about:
      'Newest events that are kept in memory for all streams together. A client that falls further behind is cut off; when it comes back, it ' +
      'goes on from the journal.',
  }),
  'events.life_seconds': row('events.lifeMs', k.seconds(10, 86_400), k.inSeconds(EVENTS.lifeMs), {
    about: 'A stream of events is ended after this long. Its client comes back, and is identified anew.',
  }),
}

const CONVERSATIONS = {
  'bind.deadline_seconds': row('control.bindDeadlineMs', k.seconds(0.05, 299), k.inSeconds(CONTROL.bindDeadlineMs), {
    about: 'An accepted bind without an answer by then fails. Nova itself waits 300 seconds.',
  }),
  'bind.resend_seconds': row('control.resendMs', k.seconds(0.05, 300), k.inSeconds(CONTROL.resendMs), {
    about: 'An order that its host has not answered is sent again after this time.',
  }),
  'program.wait_seconds': row('control.programWaitMs', k.seconds(0, 300), k.inSeconds(CONTROL.programWaitMs), {
    about: 'A call that programs a deployable waits this long for the result before it answers 202.',
  }),
  'program.deadline_seconds': row(
    'control.programDeadlineMs',
    k.seconds(1, 86_400),
    k.inSeconds(CONTROL.programDeadlineMs),
    {
      about: 'Programming that has not ended by then fails.',
    },
  ),
  'timeline.kept_days': row('control.timelineKeptMs', k.days(0, 3650), CONTROL.timelineKeptMs / DAY_MS, {
    about: 'The timeline of a deleted accelerator request can be read for this long.',
  }),
  'arq.unbound_ttl': row('control.unboundTtlMs', k.seconds(0, 365 * 86_400), k.inSeconds(CONTROL.unboundTtlMs), {
    about: 'An accelerator request that nobody has bound for this long is deleted. 0: never.',
  }),
  'quota.arqs_per_project': row('control.arqsPerProject', k.count(0, 100_000), CONTROL.arqsPerProject, {
    about:
      'A project may have this many accelerator requests; a creation beyond it is answered 403. 0: any number. Every `control` ' +
      'must have the same value.',
  }),
  'archive.ended_days': optional('archive.endedMs', k.days(1, 36_500), {
    about:
      'Journals of accelerator requests that ended this long ago are moved to the archive by the service itself, as ' +
      '`accelerando archive` does. Without it, only by that command.',
    example: 30,
  }),
  'sweep.every_seconds': row('control.sweepEveryMs', k.seconds(0.01, 60), k.inSeconds(CONTROL.sweepEveryMs), {
    about: 'How often deadlines, unanswered orders and undelivered events are looked for.',
  }),
  'actors.ask_seconds': row('region.askMs', k.seconds(0.1, 120), k.inSeconds(REGION.askMs), {
    about: 'An actor that has not answered by then makes a request fail with 503.',
  }),
  'actors.hold_seconds': row('region.holdMs', k.seconds(0.1, 120), k.inSeconds(REGION.holdMs), {
    about: 'An actor takes part in one decision of several for at most this long.',
  }),
  'actors.idle_seconds': row('region.idleMs', k.seconds(1, 86_400), k.inSeconds(REGION.idleMs), {
    about: 'An actor that was not asked for this long is removed from memory.',
  }),
  'actors.resident_max': row('region.residentMax', k.count(100, 10_000_000), REGION.residentMax, {
    about: 'With more actors in memory than this, those idle longest are removed first.',
  }),
}

const HOSTS = {
  'host.name': optional('host.name', k.hostName, {
    flag: '--name',
    about: 'Name of this machine, as Nova calls it. Without it, the name of the operating system.',
    example: 'compute-1',
  }),
  'host.aliases': row('host.aliases', k.hostNames, [], {
    about:
      'Other names of the compute node of this machine. Placement is searched for a provider of these names first: where the compute node was given a ' +
      'new name, it goes here, and `host.name` stays, so that the devices stay the same.',
    example: 'compute-1.example.org',
  }),
  'host.report_every_seconds': row('host.reportEveryMs', k.seconds(0.1, 3600), 60, {
    about: 'A host reports its complete inventory this often.',
  }),
  'host.heartbeat_every_seconds': row('host.heartbeatEveryMs', k.seconds(0.05, 600), 5, {
    about: 'A host sends a heartbeat this often.',
  }),
  'host.measure_every_seconds': row('host.measureEveryMs', k.seconds(0, 3600), 30, {
    about: 'A host measures its devices this often; 0: never, and then no device counts as bad.',
  }),
  'host.stale_after_seconds': row('control.staleAfterMs', k.seconds(0.1, 86_400), k.inSeconds(CONTROL.staleAfterMs), {
    about: 'A host silent for this long is stale.',
  }),
  'host.down_after_seconds': row('control.downAfterMs', k.seconds(0.1, 30 * 86_400), k.inSeconds(CONTROL.downAfterMs), {
    about: 'A host silent for this long is down.',
  }),
  'host.missing_rounds': row('control.missingRounds', k.count(1, 1000), CONTROL.missingRounds, {
    about: 'Complete reports in a row without a device before the device is retired.',
  }),
  'hosts.enrollment': row('control.enrollment', k.choice(ENROLLMENTS), CONTROL.enrollment, {
    about:
      'Who accepts the key that a new host signs its reports with. first-use: its first signed report. approve: an operator, with ' +
      'accelerando host approve; until then nothing of the host is recorded but that it waits. Every `control` must have the same value.',
  }),
}

export const OPTIONS = {
  ...PROGRAM,
  ...API,
  ...STREAMS,
  ...CONVERSATIONS,
  ...HOSTS,
  ...HARDWARE,
  ...NEIGHBOURS,
  ...KEYSTONE,
  ...GLANCE,
  ...SEVERAL_PROCESSES,
}
export type Key = keyof typeof OPTIONS

/** Every field of the sections must be filled by a row. For a field without a row, this type is a compile error. */
type Never<Missing extends never> = Missing
export type Unfilled = Never<Exclude<Path, (typeof OPTIONS)[Key]['to']>>

export const KEYS = Object.keys(OPTIONS) as readonly Key[]
export const rowOf = (key: Key): Row => OPTIONS[key]
export const isKey = (name: string): name is Key => Object.hasOwn(OPTIONS, name)

/** The value of an option, read from the field that its row fills. */
export const valueOf = (sections: Sections, key: Key): unknown => {
  const [section, field] = rowOf(key).to.split('.') as [keyof Sections, string]
  return (sections[section] as Readonly<Record<string, unknown>>)[field]
}

export const ENV_PREFIX = 'ACCELERANDO_'
export const envName = (key: Key): string => `${ENV_PREFIX}${key.replaceAll('.', '_').toUpperCase()}`
export const flagName = (key: Key): string => {
  const { flag } = rowOf(key)
  return typeof flag === 'string' ? flag : `--${key.replaceAll(/[._]/g, '-')}`
}
/** The name under which the command-line parser returns the flag's value. */
export const flagField = (key: Key): string =>
  flagName(key)
    .slice(2)
    .replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
