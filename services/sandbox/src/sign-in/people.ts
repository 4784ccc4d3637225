/** A person who can sign in, and the groups that ID tokens name. */
export interface Person {
  id: string;
  name: string;
  groups: readonly string[];
}

/** Each is in the group for which `npm start` has a policy (docs/examples/policies). */
export const people: readonly Person[] = [
  { id: 'operator', name: 'Olga Operator', groups: ['operators'] },
  { id: 'developer', name: 'Dan Developer', groups: ['developers'] },
  { id: 'auditor', name: 'Ada Auditor', groups: ['auditors'] },
  { id: 'guest', name: 'Gus Guest', groups: [] },
];
