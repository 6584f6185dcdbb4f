/**
 * The process that reads an embedded database for an audit: see storeReader.ts. Its argument is the source, as JSON.
 */
import { keepGarbageSmall } from '../garbage.ts'
import { messageOf } from '../../vocabulary/errorText.ts'
import type { SnapshotSource } from '../../persistence/follow.ts'
import { type Sent, readHere } from './storeTables.ts'

/** Resolves when the message has left this process, so that few messages wait in memory. */
const send = (sent: Sent): Promise<void> =>
  new Promise((resolve, reject) => {
    process.send!(sent, (error: Error | null) => (error ? reject(error) : resolve()))
  })

// without a parent process, nobody reads the rows
process.on('disconnect', () => process.exit(1))
keepGarbageSmall()
try {
  const source = JSON.parse(process.argv[2]!) as SnapshotSource
  const marks = await readHere(source, (table, block) => send({ table, block }))
  await send({ marks })
} catch (error) {
  await send({ failed: messageOf(error) })
}
process.removeAllListeners('disconnect')
process.disconnect()
