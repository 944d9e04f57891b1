// SPDX-License-Identifier: Apache-2.0
// The actors that work while the server is killed: one line a resource. crash.test.mjs
// fails while there is a route that writes and that none of them uses.
import { Recruiter } from './agents.mjs';
import { Courier } from './archives.mjs';
import { Auditor } from './audit.mjs';
import { Cartographer } from './checkpoints.mjs';
import { Appender } from './events.mjs';
import { FileClerk } from './files.mjs';
import { Locksmith } from './keys.mjs';
import { Listener } from './listeners.mjs';
import { Memoria } from './memoria.mjs';
import { Correspondent } from './messages.mjs';
import { Bookkeeper } from './money.mjs';
import { Host } from './participants.mjs';
import { Pruner } from './prune.mjs';
import { Engine } from './resumption.mjs';
import { Mover } from './runs.mjs';
import { Archivist } from './states.mjs';
import { Logger } from './steps.mjs';
import { Collector } from './store.mjs';
import { Landlord } from './tenants.mjs';
import { Usher } from './tickets.mjs';
import { Librarian } from './threads.mjs';
import { Player } from './turns.mjs';
import { Worker } from './workers.mjs';

export const ACTORS = [
  Listener, // first: it hears everything of its tenant
  Appender,
  Librarian,
  Correspondent,
  FileClerk,
  Pruner,
  Mover,
  Player,
  Engine,
  Worker,
  Logger,
  Cartographer,
  Bookkeeper,
  Collector,
  Memoria,
  Host,
  Locksmith,
  Usher,
  Archivist,
  Recruiter,
  Courier,
  Landlord,
  Auditor, // last: it looks for what the others were promised
];
