-- How often agents ask, over all processes on one store.
CREATE TABLE "rates" (
    "who" TEXT NOT NULL,
    "what" TEXT NOT NULL,
    "unspent" REAL NOT NULL,
    "refused" INTEGER NOT NULL,
    "at" BIGINT NOT NULL,

    PRIMARY KEY ("who", "what")
);
