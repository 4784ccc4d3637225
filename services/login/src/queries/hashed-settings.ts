/** The settings of a row, which may lack fields, and the hash that binds them. */
export interface HashedSettings {
  settings: object;
  rowHash: string | null;
}
