import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isPublic } from '../../../src/agent/net/addresses.ts'
import { readAllowHosts } from '../../../src/agent/net/allow-hosts.ts'
import { urlFault } from '../../../src/agent/net/url-fault.ts'

const special = {
  'this network': ['0.0.0.0', '0.1.2.3'],
  private: ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.0.1'],
  'carrier-grade NAT': ['100.64.0.1', '100.127.255.255', '100.100.100.200'],
  loopback: ['127.0.0.1', '127.255.0.1', '::1'],
  'link-local': ['169.254.169.254', 'fe80::1', 'fe80::1%eth0', 'febf::1'],
  'special use': ['192.0.0.1', '192.0.0.192', '192.88.99.1', '192.31.196.1'],
  documentation: ['192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1'],
  benchmarking: ['198.18.0.1', '198.19.255.255', '2001:2::1'],
  multicast: ['224.0.0.1', '239.255.255.255', 'ff02::1'],
  reserved: ['240.0.0.1', '255.255.255.255', '4000::1', '100::1', '5f00::1'],
  'the control plane of a cloud': ['168.63.129.16', 'fd00:ec2::254'],
  unspecified: ['::'],
  'unique local': ['fc00::1', 'fdff::1', 'fec0::1'],
  'IPv4-mapped': ['::ffff:127.0.0.1', '::ffff:8.8.8.8', '::ffff:0:127.0.0.1'],
  'IPv4-compatible': ['::127.0.0.1', '::8.8.8.8'],
  NAT64: ['64:ff9b::7f00:1', '64:ff9b::808:808', '64:ff9b:1::7f00:1'],
  '6to4': ['2002:7f00:1::', '2002:808:808::1'],
  Teredo: ['2001:0:7f00:1::'],
  'no address': ['', 'localhost', '1.2.3', '1.2.3.4.5', '127.0.0.1 ', ':::', '[::1]'],
}

for (const [kind, addresses] of Object.entries(special)) {
  test(`not public: ${kind}`, () => {
    for (const address of addresses) assert.equal(isPublic(address), false, address)
  })
}

test('public: what is beside the special ranges', () => {
  const addresses = ['8.8.8.8', '1.1.1.1', '9.255.255.255', '11.0.0.0', '100.63.255.255']
  addresses.push('100.128.0.0', '126.255.255.255', '128.0.0.0', '169.253.255.255', '172.32.0.0')
  addresses.push('192.167.255.255', '198.20.0.0', '223.255.255.255')
  addresses.push('2606:4700:4700::1111', '2a00:1450:4001:81b::200e', '2003::1')
  for (const address of addresses) assert.equal(isPublic(address), true, address)
})

const here = 8123
/** Every way to write a URL that leads to this machine, into a private network, or nowhere. */
const forbidden = [
  `http://127.0.0.1:${here}/`,
  `http://127.9.9.9:${here}/`,
  `http://localhost:${here}/`,
  `http://LOCALHOST:${here}/`,
  `http://localhost.:${here}/`,
  `http://app.localhost:${here}/`,
  `http://0.0.0.0:${here}/`,
  `http://0:${here}/`,
  `http://2130706433:${here}/`,
  `http://0x7f000001:${here}/`,
  `http://0x7f.1:${here}/`,
  `http://0177.0.0.1:${here}/`,
  `http://017700000001:${here}/`,
  `http://127.1:${here}/`,
  `http://127.0.0.1.:${here}/`,
  `http://①②⑦.0.0.1:${here}/`,
  `http://127。0。0。1:${here}/`,
  `http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ:${here}/`,
  `http://%31%32%37.0.0.1:${here}/`,
  `http://[::]:${here}/`,
  `http://[::1]:${here}/`,
  `http://[0:0:0:0:0:0:0:1]:${here}/`,
  `http://[::ffff:127.0.0.1]:${here}/`,
  `http://[::ffff:7f00:1]:${here}/`,
  `http://[::127.0.0.1]:${here}/`,
  `http://[64:ff9b::7f00:1]:${here}/`,
  `http://[64:ff9b:1::7f00:1]:${here}/`,
  `http://[2002:7f00:1::]:${here}/`,
  `http://[fe80::1]:${here}/`,
  `http://[fe80::1%25lo]:${here}/`,
  `http://[fd00:ec2::254]/`,
  'http://169.254.169.254/latest/meta-data/',
  'http://100.100.100.200/',
  'http://metadata.google.internal/',
  'http://printer.local/',
  'http://router.home.arpa/',
  'http://10.0.0.1/',
  'http://192.168.0.1/',
  'http://100.64.0.1/',
  `http://user:pass@127.0.0.1:${here}/`,
  'http://user:pass@example.com/',
  'http://user@example.com/',
  `http://127.0.0.1:${here}#@example.com/`,
  `http://127.0.0.1:${here}\\@example.com/`,
  `http://127.0.0.1:${here}/\\@example.com`,
  `http://example.com@127.0.0.1:${here}/`,
  `http:127.0.0.1:${here}`,
  `http:/\\/127.0.0.1:${here}/`,
  `http:///127.0.0.1:${here}/`,
  `\thttp://127.0.0.1:${here}/`,
  `ht\ntp://127.0.0.1:${here}/`,
  'file:///etc/passwd',
  `gopher://127.0.0.1:${here}/_x`,
  'data:text/plain,x',
  'ftp://example.com/',
  'jar:http://x!/',
  'blob:http://example.com/x',
  'javascript:1',
  'http://',
  'http://example.com:99999/',
  '//example.com/',
  'example.com',
  '',
]

test('a URL that is forbidden by what is written is told so in a sentence', () => {
  const none = readAllowHosts('')
  for (const url of forbidden) assert.match(String(urlFault(url, none)), /^The .*\.$/, url)
  for (const url of [
    'https://example.com/a?b=c',
    'http://8.8.8.8:8080/',
    'http://[2606:4700:4700::1111]/',
    'https://localhost.example.com/',
    'https://internal.example.com/',
  ]) {
    assert.equal(urlFault(url, none), undefined, url)
  }
})

const lists: [list: string, allowed: string[], refused: string[]][] = [
  ['localhost', ['http://localhost/', 'http://LOCALHOST.:81/'], ['http://127.0.0.1/']],
  ['127.0.0.1:80', ['http://127.0.0.1/', 'http://2130706433/'], ['https://127.0.0.1/']],
  ['127.0.0.1:443', ['https://127.1/'], ['http://127.0.0.1/', 'http://127.0.0.1:444/']],
  ['Tools.Internal:8080', ['http://tools.internal:8080/'], ['http://tools.internal/']],
  ['[::1]:9', ['http://[::1]:9/'], ['http://[::1]/', 'http://[::2]:9/']],
  ['::1', ['http://[::1]:9/', 'http://[0:0:0:0:0:0:0:1]/'], ['http://127.0.0.1/']],
  [
    ' 10.0.0.1 , ,10.0.0.2:1',
    ['http://10.0.0.1:5/', 'http://10.0.0.2:1/'],
    ['http://10.0.0.2/', 'http://10.0.0.3/'],
  ],
]

for (const [list, allowed, refused] of lists) {
  test(`TOOLS_ALLOW_HOSTS "${list}" allows what it names, as it is written`, () => {
    const allows = readAllowHosts(list)
    for (const url of allowed) assert.equal(urlFault(url, allows), undefined, url)
    for (const url of refused) assert.match(String(urlFault(url, allows)), /not allowed/, url)
  })
}

test('an allowed host does not allow a user name, nor another scheme', () => {
  const allows = readAllowHosts('localhost')
  for (const url of ['http://user@localhost/', 'ftp://localhost/']) assert.ok(urlFault(url, allows))
})

for (const entry of ['http://a', 'a/b', 'a:b', 'a:999999', 'a b', 'user@a', '1:2:x']) {
  test(`TOOLS_ALLOW_HOSTS "${entry}" is refused by name`, () => {
    assert.throws(() => readAllowHosts(`ok,${entry}`), {
      message: RegExp(`^"${entry}" is neither`),
    })
  })
}
