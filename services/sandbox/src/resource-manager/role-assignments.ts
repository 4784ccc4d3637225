import { z } from 'zod';
import { guidFrom } from '../directory/identity.ts';
import { patternOf } from '../faults/fault-injector.ts';
import { isWithin } from './resources/resource-id.ts';

const RoleAssignmentSpec = z.object({
  /** Object ID of an application's service principal, or of an identity. */
  principalId: z.string().min(1).max(256),
  /** A subscription, a resource group or a resource: `/subscriptions/<id>[/resourceGroups/<name>…]`. */
  scope: z
    .string()
    .regex(/^\/subscriptions\/[^/]+(\/[^/]+)*$/i)
    .max(2_048),
  /** What may be done there; `*` matches any text. Default: read everything, as the role Reader permits. */
  actions: z.array(z.string().min(1).max(256)).max(100).default(['*/read']),
});
export type RoleAssignmentSpec = z.input<typeof RoleAssignmentSpec>;

/** A role assignment. The field names are the journal's format. */
export type RoleAssignment = z.output<typeof RoleAssignmentSpec> & { id: string };

/** Who may do what, and where. */
export class RoleAssignments {
  readonly #defaults: readonly RoleAssignment[];
  readonly #persist: (record: object) => void;
  #byId = new Map<string, RoleAssignment>();

  constructor(defaults: readonly RoleAssignmentSpec[], persist: (record: object) => void) {
    this.#defaults = defaults.map((spec) => ({
      id: guidFrom(`role assignment ${JSON.stringify(spec)}`),
      ...RoleAssignmentSpec.parse(spec),
    }));
    this.#persist = persist;
    this.restoreDefaults();
  }

  /** Throws ZodError if it is invalid. */
  add(spec: unknown): string {
    const assignment = { id: crypto.randomUUID(), ...RoleAssignmentSpec.parse(spec) };
    this.#persist({ assignment });
    this.#byId.set(assignment.id, assignment);
    return assignment.id;
  }

  /** Returns whether it existed. */
  remove(id: string): boolean {
    const existed = this.#byId.delete(id);
    if (existed) this.#persist({ removedAssignment: id });
    return existed;
  }

  list(): RoleAssignment[] {
    return [...this.#byId.values()];
  }

  /** Whether a principal may perform an action, such as `Microsoft.Compute/virtualMachines/read`, in a scope. */
  permits(principalId: string, action: string, scope: string): boolean {
    return this.list().some(
      (assignment) =>
        assignment.principalId.toLowerCase() === principalId.toLowerCase() &&
        isWithin(scope, assignment.scope) &&
        assignment.actions.some((pattern) => patternOf(pattern).test(action)),
    );
  }

  restoreDefaults(): void {
    this.#byId = new Map(this.#defaults.map((assignment) => [assignment.id, assignment]));
  }

  replay(record: object): void {
    if ('emptied' in record) this.#byId.clear();
    if ('assignment' in record) {
      const assignment = record.assignment as RoleAssignment;
      this.#byId.set(assignment.id, assignment);
    }
    if ('removedAssignment' in record) this.#byId.delete(String(record.removedAssignment));
  }

  snapshot(): object[] {
    return this.list().map((assignment) => ({ assignment }));
  }
}
