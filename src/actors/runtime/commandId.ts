/** A message's id as a command id: the same message is the same command, however often it comes. */
import { createHash } from 'node:crypto'
import { uuidOfHash } from '../../uuid.ts'

export const commandIdOf = (messageId: string): string => uuidOfHash(createHash('sha1').update(messageId).digest(), 5)
