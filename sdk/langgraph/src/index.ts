// SPDX-License-Identifier: Apache-2.0
export type { CopyOptions } from "./copy.js";
export { CairnSaver, type CairnSaverOptions, type PruneOptions } from "./saver.js";
export { CairnStore, type CairnStoreOptions } from "./store.js";
