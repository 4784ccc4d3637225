export * from './admit.ts';
export * from './budget.ts';
export * from './lane.ts';
