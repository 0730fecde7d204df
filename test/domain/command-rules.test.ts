import assert from 'node:assert/strict'
import test from 'node:test'
import { asksFirst, refusedCommand } from '../../src/domain/command-rules.ts'

/** Nothing here takes a second, unless something is quadratic. */
const LIMIT = { timeout: 20_000 }

const asked = [
  'rm x',
  'rm -rf build',
  'rm\t-f x',
  'RM x',
  'Rm x',
  'del x',
  'DEL x.txt',
  'del/f x',
  'del/s/q x',
  'rmdir x',
  'RmDir/s x',
  'erase x',
  'ERASE x',
  '   rm x',
  '\t\trm x',
  'rm',
  'cd a && rm x',
  'cd a&&rm x',
  'cd a || rm x',
  'cd a; rm x',
  'cd a;rm x',
  'sleep 1 & rm x',
  'ls | rm x',
  'ls |xargs rm',
  'ls\nrm x',
  'ls\r\nrm x',
  'echo $(rm x)',
  'echo "$(rm x)"',
  'echo `rm x`',
  'echo "`rm x`"',
  '(rm x)',
  '( cd a; rm x )',
  '{ rm x; }',
  'diff <(rm x) y',
  'if true; then rm x; fi',
  'for f in *; do rm $f; done',
  'while ! rm x; do sleep 1; done',
  'case a in a) rm x;; esac',
  'f() { rm x; }; f',
  'f () { rm x; }; f',
  'X=1 rm x',
  '$SUDO rm x',
  'env X=1 rm x',
  'env -i -u HOME X=1 rm x',
  'command rm x',
  'nohup rm x &',
  'time rm x',
  'nice -n 10 rm x',
  'timeout -s KILL 5 rm x',
  'ls | xargs -0 -n 1 rm -f',
  'ls | xargs -I {} rm {}',
  'env nohup nice timeout 5 rm x',
  '/bin/rm x',
  './rm x',
  '\\rm x',
  '"rm" x',
  "'r'm x",
  "$'rm' x",
  'r\\\nm x',
  'rm>log x',
  '>log rm x',
  'bash -c "rm x"',
  "sh -ec 'cd a && rm x'",
  'bash -c "bash -c \'rm x\'"',
  'eval rm x',
  "eval 'rm x'",
  'find . -name a -exec rm {} \\;',
  'find . -exec echo {} + -execdir rm {} +',
  'find . -name a -delete',
  'shred x',
  'unlink x',
  'echo a > /etc/hosts',
  'echo a >/etc/hosts',
  'echo a >> "/etc/hosts"',
  'echo a 2> /etc/x',
  'echo a &> /etc/x',
  'echo a > /tmp/../etc/x',
  'echo a | tee -a /etc/hosts',
  'cp x /etc/passwd',
  'sed -i s/a/b/ /etc/hosts',
  'chmod 777 x',
  'chmod -R 0777 .',
  'chmod a+rwx x',
  'echo "# x" && rm y',
  'cat <<EOF\nx\nEOF\nrm x',
  'cat <<A <<B\nx\nA\ny\nB\nrm x',
  'cat <<-EOF && rm x\n\ty\n\tEOF',
  'cat <<EOF\n$(rm x)\nEOF',
  'cat <<EOF\nrm x',
  'bash <<EOF\nrm x\nEOF',
  'env X=1 sh -s <<EOF\nrm x\nEOF',
  'bash <<< "rm x"',
  "echo 'it''s' ; rm x",
]

const notAsked = [
  'echo rm x',
  'echo "rm x"',
  "echo 'a; rm x'",
  'echo "a && rm x"',
  'echo a\\; rm x',
  'echo "\\$(rm x)"',
  "echo '$(rm x)'",
  'git commit -m "rm x"',
  "git commit -m 'fix; rm x'",
  'git rm x',
  'npm rm x',
  'grep rm f',
  'grep -r "rm -rf" .',
  "print('del')",
  'python -c "print(\'del\')"',
  'transform_data()',
  'transform_data(rm)',
  'del_flag',
  'del_flag=1',
  'rmx y',
  'arm x',
  'my-rm x',
  'rm.py x',
  'rm_old x',
  'ls rm',
  'cat del.txt',
  'cd rmdir',
  'ls # ; rm x',
  'cat <<EOF > x\nrm x\nEOF',
  "cat <<'EOF'\n$(rm x) `rm y`\nEOF",
  'cat <<-EOF\n\trm x\n\tEOF\nls',
  'cat <<A <<B\nrm a\nA\nrm b\nB\nls',
  'cat <<< "rm x"',
  'ls --rm',
  'docker run --rm x',
  'X=rm',
  'xargs grep rm',
  'find . -name rm',
  'env',
  'timeout 5',
  'cat /etc/hosts',
  'cat < /etc/hosts',
  'cp /etc/hosts .',
  'sed s/a/b/ /etc/hosts',
  'echo a > ./etc/x',
  'echo a > /etcetera',
  'chmod 755 x',
  'ls 2>&1',
  'ls > /dev/null 2>&1',
  '',
  '   ',
  '# rm x',
]

for (const command of asked) {
  test(`${JSON.stringify(command)} has to be approved`, () => {
    assert.equal(asksFirst(command), true)
    assert.equal(refusedCommand(command), undefined)
  })
}
for (const command of notAsked) {
  test(`${JSON.stringify(command)} needs no approval`, () => {
    assert.equal(asksFirst(command), false)
    assert.equal(refusedCommand(command), undefined)
  })
}

const refused: [command: string, what: string][] = [
  ['rm -rf /', 'rm -rf /'],
  ['rm -fr /', 'rm -rf /'],
  ['rm -r -f /', 'rm -rf /'],
  ['rm -f -R /', 'rm -rf /'],
  ['rm --recursive --force /', 'rm -rf /'],
  ['rm / -rf', 'rm -rf /'],
  ['rm -rf -- /', 'rm -rf /'],
  ['rm -rf "/"', 'rm -rf /'],
  ['rm -rf //', 'rm -rf /'],
  ['rm -rf /.', 'rm -rf /'],
  ['rm -rf /tmp/..', 'rm -rf /'],
  ['rm -rf /*', 'rm -rf /'],
  ['rm -rf /.*', 'rm -rf /'],
  ['rm -rf x /', 'rm -rf /'],
  ['rm -rf --no-preserve-root /', 'rm -rf /'],
  ['rm -rf --no-preserve-root /x', 'rm -rf /'],
  ['cd a && rm -rf /', 'rm -rf /'],
  ['bash -c "rm -rf /"', 'rm -rf /'],
  ['echo $(rm -rf /)', 'rm -rf /'],
  ['sudo ls', 'sudo'],
  ['cd a; sudo -u root ls', 'sudo'],
  ['/usr/bin/sudo ls', 'sudo'],
  ['env X=1 sudo ls', 'sudo'],
  ['sudo', 'sudo'],
  ['shutdown -h now', 'shutdown'],
  ['sleep 1 && shutdown now', 'shutdown'],
  ['reboot', 'reboot'],
  ['/sbin/reboot', 'reboot'],
  ['mkfs /dev/sdb', 'mkfs'],
  ['mkfs.ext4 /dev/sdb', 'mkfs'],
  ['dd if=/dev/zero of=x', 'dd if='],
  ['dd bs=1M if=a of=b', 'dd if='],
  ['echo a > /dev/sda', '/dev/sda'],
  ['echo a >/dev/sda1', '/dev/sda1'],
  ['echo a >> //dev//nvme0n1', '/dev/nvme0n1'],
  ['cat x | tee /dev/vda', '/dev/vda'],
  ['cp image /dev/disk/by-id/x', '/dev/disk/by-id/x'],
  ['dd of=/dev/sda', '/dev/sda'],
]
for (const [command, what] of refused) {
  test(`${JSON.stringify(command)} is refused`, () => {
    assert.ok(refusedCommand(command)?.includes(what))
  })
}

const notRefused = [
  'rm -rf /tmp/x',
  'rm -rf ./x',
  'rm -rf *',
  'rm -rf /tmp/*',
  'rm /',
  'echo rm -rf /',
  'git commit -m "rm -rf /"',
  'echo sudo',
  'grep reboot log',
  'ls shutdown',
  'mkfsx',
  'dd of=x',
  'cat /dev/sda',
  'ls > /dev/null',
  'ls > /dev/stderr',
  'echo "> /dev/sda"',
  'pseudo x',
  "cat > notes.md <<'EOF'\nsudo ls\nrm -rf /\nEOF",
]
for (const command of notRefused) {
  test(`${JSON.stringify(command)} is not refused`, () => {
    assert.equal(refusedCommand(command), undefined)
  })
}

test('the reason says what is wrong', () => {
  assert.equal(refusedCommand('sudo ls'), 'The command was refused: "sudo" is never run here.')
  assert.equal(
    refusedCommand('ls > /dev/sda'),
    'The command was refused: nothing is written to the device /dev/sda here.',
  )
})

test('what is nested too deep to be read has to be approved', () => {
  assert.equal(asksFirst(`${'eval '.repeat(5)}ls`), false)
  assert.equal(asksFirst(`${'eval '.repeat(20)}ls`), true)
  assert.equal(asksFirst(`find ${'-exec find '.repeat(20)}`), true)
})

const N = 50_000
for (const hostile of [
  '$('.repeat(N),
  '('.repeat(N),
  '`'.repeat(N),
  `\`${'$('.repeat(N)}`,
  '"'.repeat(N),
  "'".repeat(N + 1),
  '\\'.repeat(N),
  '>'.repeat(N),
  '1'.repeat(N),
  '1>'.repeat(N),
  '9'.repeat(N).concat('>x'),
  ' '.repeat(N),
  ';'.repeat(N),
  'env '.repeat(N),
  'X=1 '.repeat(N),
  'timeout '.repeat(N),
  'eval '.repeat(N),
  'bash -c '.repeat(N),
  'find -exec '.repeat(N),
  'find . '.concat('-exec ls ; '.repeat(N)),
  `del${'/a:b'.repeat(N)}`,
  `rm -rf ${'/..'.repeat(N)}x`,
  `rm -r ${'/'.repeat(N)}x`,
  `chmod ${'7'.repeat(N)}`,
  '# '.repeat(N),
  '<<A '.repeat(N).concat('\n'),
  '<<A\n'.repeat(N),
  '<<A\nA\n'.repeat(N),
  '$(cat <<A\n'.repeat(N),
]) {
  test(`${JSON.stringify(hostile.slice(0, 12))}… is read in a moment`, LIMIT, () => {
    assert.equal(typeof asksFirst(hostile), 'boolean')
    refusedCommand(hostile)
  })
}
