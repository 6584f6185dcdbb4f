/** What an upgrade happens on: a folder, a database, topics of its own on the run's broker, and customers. */
import { join } from 'node:path'
import type { TestCluster } from '../support/cluster.ts'
import { freshPrefix, kafkaServer } from '../support/kafka.ts'
import { freshDatabase } from '../support/postgres.ts'
import { tempFolder } from '../support/program.ts'
import { openCustomers } from './customers.ts'

export const openUpgrade = async (name: string, bin: string, rig: string, seed: number) => {
  const folder = tempFolder(name)
  const [{ url }, { options }, customers] = await Promise.all([
    freshDatabase(bin),
    kafkaServer(rig),
    openCustomers(seed),
  ])
  const testCluster: TestCluster = {
    database: url,
    brokers: options.brokers,
    prefix: freshPrefix(),
    folder: join(folder.path, 'hosts'),
  }
  return { folder, testCluster, customers }
}
