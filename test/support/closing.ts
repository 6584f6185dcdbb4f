/** What a test has opened, to be closed at its end: what was opened last is closed first. */
export const closing = () => {
  const steps: (() => unknown)[] = []
  return {
    add: (close: () => unknown): void => void steps.unshift(close),
    close: async (): Promise<void> => {
      for (const close of steps.splice(0)) await close()
    },
  }
}
