/*
 * Loaded into the programs that `serve` starts (node --import): when the one that started them is gone, killed even,
 * the channel between them closes, and they stop as if asked to. So no console is left behind holding the port.
 */
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'))
process.channel?.unref()
