/**
 * Gives up on `run` after a time, aborting its signal. What never gives the event loop back, as an
 * endless loop in a module, cannot be given up on: it stops the service.
 */
export async function withinLimit<Result>(
  milliseconds: number,
  run: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      const error = new Error(`It took longer than ${milliseconds} ms.`)
      controller.abort(error)
      reject(error)
    }, milliseconds)
  })
  try {
    return await Promise.race([run(controller.signal), late])
  } finally {
    clearTimeout(timer)
  }
}
