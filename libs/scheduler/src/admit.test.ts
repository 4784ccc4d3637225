import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type AdmissionLimits, admit, type DestinationSnapshot, type LaneSnapshot } from './admit.ts';

const lane = (
  id: string,
  over: Partial<LaneSnapshot> & { due?: number; outstanding?: number } = {},
): LaneSnapshot => ({
  id,
  window: 8,
  maxOutstanding: Number.POSITIVE_INFINITY,
  isHealthy: true,
  tokens: 1_000,
  servedAtMs: 0,
  destinations: [destination(`${id}-1`, { outstanding: over.outstanding ?? 0, hasDue: (over.due ?? 1) > 0 })],
  ...over,
});
const destination = (id: string, over: Partial<DestinationSnapshot> = {}): DestinationSnapshot => ({
  id,
  window: 1_000,
  isHealthy: true,
  outstanding: 0,
  hasDue: true,
  ...over,
});
const limits: AdmissionLimits = { slots: 16, queueFactor: 2 };
const admittedTo = (lanes: LaneSnapshot[], given = limits) => Object.fromEntries(admit(lanes, given));

test('a lane gets as many entries as its window has room for', () => {
  expect(admittedTo([lane('a', { outstanding: 5 })])).toEqual({ 'a-1': 3 });
});

test('a lane without room, without budget or without due entries gets none', () => {
  const lanes = [lane('full', { outstanding: 8 }), lane('spent', { tokens: 0.9 }), lane('idle', { due: 0 })];
  expect(admittedTo(lanes)).toEqual({});
});

test('a lane gets no more entries than its budget has calls left', () => {
  expect(admittedTo([lane('a', { tokens: 2.5 })])).toEqual({ 'a-1': 2 });
});

test('the entries of a lane whose calls must not overlap run one at a time', () => {
  const silent = destination('silent', { isHealthy: false, outstanding: 1 });
  expect(admittedTo([lane('a', { maxOutstanding: 1 })])).toEqual({ 'a-1': 1 });
  expect(admittedTo([lane('a', { maxOutstanding: 1, destinations: [silent, destination('well')] })])).toEqual(
    {},
  );
});

test('a quiet lane gets its entry although a busy one could take all the room', () => {
  const lanes = [
    lane('busy', { window: 100, outstanding: 30, servedAtMs: 1 }),
    lane('quiet', { servedAtMs: 2 }),
  ];
  expect(admittedTo(lanes)).toEqual({ 'busy-1': 1, 'quiet-1': 1 });
});

test('the lane that waited longest goes first when there is room for one', () => {
  const lanes = [lane('a', { outstanding: 31, window: 100, servedAtMs: 9 }), lane('b', { servedAtMs: 5 })];
  expect(admittedTo(lanes)).toEqual({ 'b-1': 1 });
});

test('unhealthy lanes together never have more outstanding than half of the slots', () => {
  const lanes = Array.from({ length: 20 }, (_, index) =>
    lane(`sick-${index}`, { isHealthy: false, window: 1 }),
  );
  expect(admit(lanes, limits).size).toBe(8);
  expect(admittedTo([...lanes, lane('well')])['well-1']).toBe(8);
});

test('the destinations of a lane share its window', () => {
  const destinations = ['x', 'y', 'z'].map((id) => destination(id));
  expect(admittedTo([lane('a', { window: 7, destinations })])).toEqual({ x: 3, y: 2, z: 2 });
});

test('a destination gets no more entries than its own window has room for', () => {
  const destinations = [
    destination('probe', { window: 1 }),
    destination('full', { window: 4, outstanding: 4 }),
  ];
  expect(admittedTo([lane('a', { destinations })])).toEqual({ probe: 1 });
});

test('an unhealthy destination leaves the window of its lane to the others', () => {
  const silent = destination('silent', { isHealthy: false, outstanding: 8, window: 64 });
  expect(admittedTo([lane('a', { destinations: [silent, destination('well')] })])).toEqual({ well: 8 });
});

const destinationOf = (id: string) =>
  fc.record({
    id: fc.constant(id),
    window: fc.nat({ max: 20 }),
    isHealthy: fc.boolean(),
    outstanding: fc.nat({ max: 10 }),
    hasDue: fc.boolean(),
  });
const lanesArbitrary = fc.array(fc.nat({ max: 3 }), { maxLength: 12 }).chain((sizes) =>
  fc.tuple(
    ...sizes.map((size, index) =>
      fc.record({
        id: fc.constant(`l${index}`),
        window: fc.nat({ max: 40 }),
        maxOutstanding: fc.constantFrom(1, 7, Number.POSITIVE_INFINITY),
        isHealthy: fc.boolean(),
        tokens: fc.double({ min: 0, max: 50, noNaN: true }),
        servedAtMs: fc.nat(),
        destinations: fc.tuple(...Array.from({ length: size }, (_, at) => destinationOf(`l${index}d${at}`))),
      }),
    ),
  ),
);

test('no admission exceeds a window, a budget, the length of the queue or the share of the unhealthy', () => {
  fc.assert(
    fc.property(
      lanesArbitrary,
      fc.integer({ min: 1, max: 32 }),
      fc.integer({ min: 1, max: 4 }),
      (lanes, slots, factor) => {
        const admission = admit(lanes, { slots, queueFactor: factor });
        const added = (some: readonly DestinationSnapshot[]) =>
          some.reduce((sum, { id }) => sum + (admission.get(id) ?? 0), 0);
        const expectAtMost = (some: readonly DestinationSnapshot[], limit: number) => {
          const before = some.reduce((sum, { outstanding }) => sum + outstanding, 0);
          if (added(some) > 0) expect(before + added(some)).toBeLessThanOrEqual(limit);
        };
        for (const { window, maxOutstanding, tokens, destinations } of lanes) {
          expectAtMost(destinations, maxOutstanding);
          if (added(destinations) > 0)
            expectAtMost(
              destinations.filter(({ isHealthy }) => isHealthy),
              window,
            );
          expect(added(destinations)).toBeLessThanOrEqual(tokens);
          for (const one of destinations) {
            expectAtMost([one], one.window);
            if (!one.hasDue) expect(admission.has(one.id)).toBe(false);
          }
        }
        expectAtMost(
          lanes.flatMap(({ destinations }) => destinations),
          slots * factor,
        );
        const sick = lanes.flatMap((one) =>
          one.destinations.filter(({ isHealthy }) => !(one.isHealthy && isHealthy)),
        );
        expectAtMost(sick, Math.max(1, Math.floor(slots / 2)));
      },
    ),
  );
});

test('in a model with a busy, a silent and a quiet lane, every lane with room is served in each round', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 2 }), { minLength: 5, maxLength: 40 }), (arrivals) => {
      const due = [1_000, 1_000, 0];
      const outstanding = [0, 0, 0];
      const served = [0, 0, 0];
      arrivals.forEach((arrival, now) => {
        due[2]! += arrival === 2 ? 1 : 0;
        const lanes = due.map((count, at) =>
          lane(String(at), {
            window: 16,
            outstanding: outstanding[at]!,
            due: count,
            servedAtMs: served[at]!,
            isHealthy: at !== 1,
          }),
        );
        const admission = admit(lanes, limits);
        admission.forEach((count, id) => {
          const at = Number(id.split('-')[0]);
          const taken = Math.min(count, due[at]!);
          due[at]! -= taken;
          outstanding[at]! += taken;
          served[at] = now + 1;
        });
        expect(due[2]).toBe(0); // the quiet lane never waits for a later round
        outstanding[0] = Math.floor(outstanding[0]! / 2); // the busy lane makes progress, the silent one does not
        outstanding[2] = 0;
      });
      expect(outstanding[1]).toBeLessThanOrEqual(8);
    }),
  );
});
