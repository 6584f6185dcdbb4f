/** What a host keeps in its folder: who it belongs to, its starts, its ledger, and its place among the orders. */
import type { Clock, Ids } from '../clock.ts'
import type { HostName } from '../identifiers.ts'
import type { Log } from '../log.ts'
import { type Boot, nextBoot } from './boot.ts'
import { type Membership, openMembership } from './cluster.ts'
import type { Disk } from './disk.ts'
import { type Ledger, openLedger } from './ledger.ts'
import { type KeptOffset, openOffsetStore } from './offsetStore.ts'

export type Kept = {
  readonly boot: Boot
  readonly ledger: Ledger
  readonly place: KeptOffset
  readonly membership: Membership
}
export type KeptStart = {
  readonly name: HostName
  readonly stateDir: string
  readonly disk: Disk
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
}

/** Rejects when a file that must not be forgotten cannot be read. */
export const openKept = async ({ name, stateDir, disk, clock, ids, log }: KeptStart): Promise<Kept> => {
  const membership = await openMembership(disk, `${stateDir}/cluster.json`)
  const bootNumber = await nextBoot({ disk, path: `${stateDir}/boot.json`, clock, log })
  const ledger = await openLedger({ disk, path: `${stateDir}/ledger.jsonl`, host: name, clock, log, boot: bootNumber })
  const place = await openOffsetStore({ disk, path: `${stateDir}/place.json`, clock, log })
  return { boot: { bootId: ids.uuid(), bootNumber }, ledger, place, membership }
}
