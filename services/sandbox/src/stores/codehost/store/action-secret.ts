/** The repositories that can read an organization's secret. */
export interface Access {
  visibility: 'all' | 'private' | 'selected';
  repositoryIds: number[];
}

/** A secret. The field names are the journal's format: existing files depend on them. */
export interface ActionSecret {
  scope: string;
  /** How the sandbox shows its scope. */
  label: string;
  /** In upper case. */
  name: string;
  value: string;
  access?: Access | undefined;
  createdAt: string;
  updatedAt: string;
  /** How many times a value was written. */
  writes: number;
}
