/**
 * Opens the files of a host: its key, its cloud, the number of its start, its ledger, its position among the orders,
 * and what still works on its cards.
 */
import type { Clock, Ids } from '../vocabulary/clock.ts'
import type { Driver } from '../drivers/driver.ts'
import type { HostName } from '../vocabulary/identifiers.ts'
import type { Log } from '../vocabulary/log.ts'
import { type Boot, nextBoot } from './boot.ts'
import { type Membership, openMembership } from './cloud.ts'
import type { Disk } from './disk.ts'
import { type Functions, openFunctions } from './functions.ts'
import { type Ledger, openLedger } from './ledger.ts'
import { type Signer, type Verify, createVerify } from '../wire/signature.ts'
import { openIdentity } from './identity.ts'
import type { Reading } from './playbookFolders.ts'
import { type PlaybookTools, Playbooks } from './playbooks.ts'
import { type SurvivorOptions, Survivors } from './survivors.ts'
import { type KeptOffset, openOffsetStore } from './offsetStore.ts'

export type Kept = {
  readonly boot: Boot
  readonly ledger: Ledger
  readonly offsetStore: KeptOffset
  readonly membership: Membership
  readonly signer: Signer
  readonly functions: Functions
  readonly playbooks: Playbooks
  readonly survivors: Survivors
}
export type KeptStart = {
  readonly name: HostName
  readonly stateDir: string
  readonly disk: Disk
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
  /** Makes the private key of the host at its first start. */
  readonly newKey: () => string
  /** Checks the signatures and MACs of orders. */
  readonly verify?: Verify
  /** Absent: drivers are neither set up nor torn down. */
  readonly playbooks?: PlaybookTools
  readonly drivers: readonly Pick<Driver, 'name'>[]
  readonly io: Reading
  /** Finds programs that change cards; absent: this host runs none. */
  readonly toolLocks?: NonNullable<SurvivorOptions['tools']>
  /** The longest that such a program may take. */
  readonly toolLimitMs: number
}

/** Rejects when a file cannot be read whose content must not be forgotten. */
export const openKept = async (start: KeptStart): Promise<Kept> => {
  const { name, stateDir, disk, clock, ids, log, newKey } = start
  const signer = await openIdentity({ disk, path: `${stateDir}/key.pem`, host: name, newKey, log })
  const { verify = createVerify(signer) } = start
  const membership = await openMembership(disk, `${stateDir}/cluster.json`, verify)
  const bootNumber = await nextBoot({ disk, path: `${stateDir}/boot.json`, clock, log })
  const ledger = await openLedger({ disk, path: `${stateDir}/ledger.jsonl`, host: name, clock, log, boot: bootNumber })
  const offsetStore = await openOffsetStore({ disk, path: `${stateDir}/place.json`, clock, log })
  const functions = await openFunctions(disk, `${stateDir}/functions.json`, log)
  const drivers = start.drivers.map((driver) => driver.name)
  const playbooks = await Playbooks.open({ ...start, tools: start.playbooks ?? null, host: name, drivers })
  const survivors = await Survivors.open({
    tools: start.toolLocks ?? null,
    host: name,
    clock,
    log,
    limitMs: start.toolLimitMs,
  })
  return {
    boot: { bootId: ids.uuid(), bootNumber },
    ledger,
    offsetStore,
    membership,
    signer,
    functions,
    playbooks,
    survivors,
  }
}
