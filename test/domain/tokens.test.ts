import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import test from 'node:test'
import fc from 'fast-check'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { estimateTokens, measureTokens } from '../../src/domain/tokens.ts'

/** Nothing here takes a second, unless something is quadratic. */
const LIMIT = { timeout: 20_000 }

const corpus = new URL('../../../shared/corpus/', import.meta.url)
const count = (text: string): number => countTokens(text, { disallowedSpecial: new Set() })

test('on real skills the estimate is close to o200k in every language', (t) => {
  if (!existsSync(corpus)) {
    assert.ok(!process.env.CI, `the corpus is missing at ${corpus.pathname}`)
    t.skip(`no corpus at ${corpus.pathname}`)
    return
  }
  const index: unknown = JSON.parse(readFileSync(new URL('index.json', corpus), 'utf8'))
  assert.ok(Array.isArray(index))
  const errors = new Map<string, number[]>()
  for (const { path, language } of index) {
    const text = readFileSync(new URL(path, corpus), 'utf8')
    if (text === '') continue
    const error = Math.abs(estimateTokens(text) / count(text) - 1)
    errors.set(language, [...(errors.get(language) ?? []), error])
  }
  assert.deepEqual([...errors.keys()].sort(), ['en', 'ja', 'zh'])
  for (const [language, found] of errors) {
    assert.ok(quantile(found, 0.5) <= 0.08, `${language}: median ${quantile(found, 0.5)}`)
    assert.ok(quantile(found, 0.95) <= 0.2, `${language}: 95 % ${quantile(found, 0.95)}`)
  }
})

const quantile = (numbers: number[], share: number): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor((numbers.length - 1) * share)] ?? Number.NaN

const samples: [language: string, text: string][] = [
  [
    'English',
    'Looks through a change for mistakes, missing tests and unclear names. Use when somebody asks for a review.',
  ],
  [
    'German',
    'Prüft den Code auf Fehler, fehlende Tests und unklare Namen. Beginne mit den Dateien, die sich geändert haben.',
  ],
  [
    'French',
    'Vérifie le code à la recherche d’erreurs et de tests manquants. Commencez par les fichiers qui ont changé.',
  ],
  [
    'Spanish',
    'Revisa el código en busca de errores y pruebas que faltan. Empieza por los archivos que han cambiado.',
  ],
  [
    'Polish',
    'Sprawdza kod pod kątem błędów i brakujących testów. Zacznij od plików, które się zmieniły.',
  ],
  [
    'Vietnamese',
    'Kiểm tra mã nguồn để tìm lỗi và các bài kiểm thử còn thiếu. Bắt đầu với các tệp đã thay đổi.',
  ],
  [
    'Russian',
    'Проверяет код на ошибки и недостающие тесты. Начните с файлов, которые изменились, и укажите строку.',
  ],
  [
    'Ukrainian',
    'Перевіряє код на помилки та відсутні тести. Почніть із файлів, які змінилися, і опишіть кожну проблему.',
  ],
  [
    'Greek',
    'Ελέγχει τον κώδικα για σφάλματα και δοκιμές που λείπουν. Ξεκινήστε από τα αρχεία που άλλαξαν.',
  ],
  ['Arabic', 'يفحص الشيفرة بحثا عن الأخطاء والاختبارات الناقصة. ابدأ بالملفات التي تغيرت.'],
  ['Hebrew', 'בודק את הקוד לאיתור שגיאות ובדיקות חסרות. התחל בקבצים שהשתנו.'],
  ['Hindi', 'कोड में त्रुटियों और छूटे हुए परीक्षणों की जाँच करता है। बदली हुई फ़ाइलों से शुरू करें।'],
  ['Thai', 'ตรวจสอบโค้ดเพื่อหาข้อผิดพลาดและการทดสอบที่ขาดหายไป เริ่มจากไฟล์ที่เปลี่ยนไป'],
  [
    'Korean',
    '코드에서 오류와 빠진 테스트를 찾아 검토합니다. 변경된 파일부터 시작하여 문제를 설명합니다.',
  ],
  ['Japanese', 'コードの誤りと足りないテストを確認します。変更されたファイルから始めてください。'],
  ['Chinese', '检查代码中的错误、缺失的测试和不清楚的命名。先看改动过的文件，再指出所在的行。'],
  ['traditional Chinese', '檢查程式碼中的錯誤、缺少的測試以及不清楚的命名。先看變更過的檔案。'],
  ['emoji', '🎉 🚀 ✅ 🔥 😀 👍 🐛 📦'],
  ['code', 'const total = items.reduce((sum, item) => sum + item.price * item.count, 0)\n'],
  [
    'JSON',
    '{"name": "code-review", "version": 3, "tags": ["quality", "tests"], "enabled": true}\n',
  ],
  ['a table', '| name | size |\n|---|---|\n| small | 120 |\n| large | 4,800 |\n'],
  ['digits', '1234567890 2024-01-15 3.14159 192.168.0.1'],
  ['indented lines', 'if ready:\n    start()\n    while busy:\n        wait(10)\n\n\nstop()\n'],
]

for (const [language, text] of samples) {
  test(`a short text is estimated within a quarter: ${language}`, () => {
    const exact = count(text)
    const estimate = estimateTokens(text)
    assert.ok(Math.abs(estimate - exact) <= exact / 4 + 1, `${estimate} for ${exact}`)
  })
}

test('only the empty text is free', () => {
  assert.equal(estimateTokens(''), 0)
  for (const text of [' ', '\n', '\t', 'a', '.', '\u0000', '\u200b', '\ud800', '中', '🎉']) {
    assert.ok(estimateTokens(text) >= 1, JSON.stringify(text))
  }
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1 }), (text) => {
      assert.ok(estimateTokens(text) >= 1)
    }),
  )
})

const word = fc.stringMatching(/^[A-Za-z0-9.,:;()é中文_"'#-]{1,12}$/)

test('what is cut before a blank or behind a line break adds up', () => {
  fc.assert(
    fc.property(fc.array(word, { minLength: 2 }), word, (before, after) => {
      for (const [left, right] of [
        [before.join(' '), ` ${after}`],
        [`${before.join(' ')}\n`, after],
      ]) {
        const whole = `${left}${right}`
        const cut = left?.length ?? 0
        const parts = measureTokens(whole, 0, cut) + measureTokens(whole, cut)
        assert.equal(measureTokens(whole), parts)
      }
    }),
  )
})

test('a megabyte of anything takes one quick pass', LIMIT, () => {
  for (const unit of ['a', ' ', '\n', '-', '中', 'é', '|-', 'a_', '\u0301', '🎉', 'Aa1 .']) {
    const text = unit.repeat(1_000_000 / unit.length)
    assert.ok(estimateTokens(text) > 0)
  }
})
