const KIB = 1024
const GIB_IN_KIB = KIB * KIB

/** Of each process, but `u`: how many there may be at once. Memory and files in KiB. */
const LIMITS = {
  c: 0,
  n: 1024,
  u: 256,
  f: GIB_IN_KIB,
  d: 2 * GIB_IN_KIB,
  v: 8 * GIB_IN_KIB,
} as const

/**
 * What bash runs in the sandbox, with the command as its first argument and seconds of processor
 * time as its second. Limits that are lower already stay so.
 *
 * The command writes into a true pipe, since what Node gives it is a socket, which `/dev/stderr`
 * cannot open. When it ends, whatever it left behind is killed, so that the pipe ends, too.
 */
export const GUARD_SCRIPT = `
cd /workspace || exit
${Object.entries({ ...LIMITS, t: '"$2"' })
  .map(([letter, limit]) => `ulimit -${letter} ${limit} 2>/dev/null`)
  .join('\n')}
echo 1000 2>/dev/null >/proc/self/oom_score_adj
exec 3>&1 2>/dev/null
exec 4> >(exec cat >&3)
reader=$!
nice -n 10 bash -c -- "$1" >&4 2>&1 3>&- 4>&-
status=$?
exec 4>&-
while :; do
  left=
  for process in /proc/[0-9]*; do
    process=\${process#/proc/}
    case $process in
      1|$$|$reader) ;;
      *) kill -9 "$process" && left=1 ;;
    esac
  done
  [ -z "$left" ] && break
done
wait "$reader"
exit "$status"
`
