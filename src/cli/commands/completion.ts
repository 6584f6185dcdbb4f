/**
 * `accelerando completion SHELL`: the script by which a shell completes command lines, and the hidden command that the
 * script asks.
 */
import { Argument } from 'commander'
import { type Register, withPlainErrors } from '../command.ts'

const SHELLS = ['bash', 'zsh', 'fish', 'powershell']
const WORDS_MAX = 1000

export const completion: Register = (program) => {
  program
    .command('completion')
    .description(
      'Prints the script by which a shell completes commands, options and values: source <(accelerando completion bash)',
    )
    .example('source <(accelerando completion bash)', 'accelerando completion fish | source')
    .addArgument(new Argument('<SHELL>', 'the shell').choices(SHELLS))
    .action(
      withPlainErrors(async (shell: string) => {
        const { printScript } = await import('../operators/completion.ts')
        printScript(program, shell)
      }),
    )
  program
    .command('complete', { hidden: true })
    .description('Prints what may follow the words of a command line; the script of a shell asks it.')
    .argument('[WORDS...]', 'the words behind the name of the program, the last one as far as it is written')
    .action(
      withPlainErrors(async (words: readonly string[]) => {
        const { completionOf } = await import('../operators/completion.ts')
        completionOf(program).parse(words.slice(0, WORDS_MAX))
      }),
    )
}
