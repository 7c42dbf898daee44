import { tryFaults } from "./try-faults.ts";

tryFaults(12, 6, 1);
