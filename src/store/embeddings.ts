/** Vectors of texts, as a model made them; `sha256` is the hexadecimal hash of the text. */
export interface EmbeddingStore {
  /** Those that are stored, by hash. */
  find(model: string, hashes: readonly string[]): Promise<Map<string, Float32Array>>
  /** Keeps what is already stored. */
  save(model: string, vectors: ReadonlyMap<string, Float32Array>): Promise<void>
  /** Removes all but these of this model, little by little. */
  sweep(model: string, needed: ReadonlySet<string>): Promise<void>
}
