/** Derives a command id from the id of a message, so that a repeated message is recognized as the same command. */
import { createHash } from 'node:crypto'
import { uuidOfHash } from '../../vocabulary/uuid.ts'

export const commandIdOf = (messageId: string): string => uuidOfHash(createHash('sha1').update(messageId).digest(), 5)
