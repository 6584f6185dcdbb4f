/** The Ansible of a host, and a cleaning by a playbook of it, for tests. */
import { systemClock } from '../../src/vocabulary/clock.ts'
import { runToEnd } from '../../src/drivers/hostIo.ts'
import { createCleaner } from '../../src/host/cleaning.ts'

type Settings = Parameters<typeof createCleaner>[0]
type Ansible = Settings['ansible']
export type CleaningPolicy = Settings['policies'] extends ReadonlyMap<string, infer One> ? One : never
export type ProgramEnd = Awaited<ReturnType<Settings['run']>>
export type CleaningOrder = Parameters<ReturnType<typeof createCleaner>['clean']>[0]

/** A host without Ansible. */
export const NO_ANSIBLE: Ansible = {
  host: 'h1',
  program: 'ansible-playbook',
  programAt: async () => null,
  environment: {},
}

const HANDLE = 'b0a70000-0000-4000-8000-000000000001'
export const CLEANED_HANDLE: CleaningOrder = {
  driver: 'pci_driver',
  number: 7,
  slot: {
    uuid: HANDLE,
    deployable: 'h1_card',
    type: 'PCI',
    info: { domain: '0000', bus: 'af', device: '00', function: '1' },
  },
}

export type Played = { readonly program: string | null; readonly playbook: string; readonly limitMs?: number }
/** Cleans a handle with real processes. `program`: the path of `ansible-playbook`; null: there is none. */
export const cleanedByPlaybook = (
  { program, playbook, limitMs = 60_000 }: Played,
  signal = new AbortController().signal,
) =>
  createCleaner({
    policies: new Map([['pci_driver', { driver: 'pci_driver', kind: 'playbook', playbook, limitMs }]]),
    run: runToEnd,
    clock: systemClock,
    ansible: {
      ...NO_ANSIBLE,
      programAt: async () => program,
      environment: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '/' },
    },
  }).clean(CLEANED_HANDLE, signal)
