-- How often each workflow's steps began within the last minute, beside how many run and wait.
ALTER TABLE "pool_use" ADD COLUMN "requests" INTEGER NOT NULL DEFAULT 0;
