/*
 * Loaded into the programs that `serve` starts (node --import) and into what they fork: when the one that started them
 * is gone, killed even, the channel between them closes, and they stop as if asked to. So no console is left behind
 * holding the port.
 *
 * Listening for the end alone must not keep a program alive, so the channel is let go of. Node then no longer takes it
 * up by itself for who waits for messages, and Next's development server, which begins by waiting for one, would end
 * at once without a word: so it is taken up here.
 */
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'))
process.channel?.unref()
process.on('newListener', (event) => {
  if (event === 'message') process.channel?.ref()
})
process.on('removeListener', (event) => {
  if (event === 'message' && process.listenerCount('message') === 0) process.channel?.unref()
})
