/** The session must not be used for writing; the message says why. */
export class NotWritable extends Error {
  override readonly name = 'NotWritable'
}
